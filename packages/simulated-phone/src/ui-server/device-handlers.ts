import { statusBarHeightDp, toPixels } from '../android/display/display.ts';
import { mainPanel } from '../screen/other-display.ts';
import { pressKey } from '../android/input/press-key.ts';
import { pressBack } from '../android/input/system-keys.ts';
import type { Phone } from '../phone.ts';
import { listTouchWindows } from '../screen/screen.ts';
import { sourceXml } from '../screen/source-xml.ts';
import { tap } from '../android/input/touch.ts';
import { center, rectHeight, rectWidth } from '../view/rect.ts';
import { type VisibleView, walk } from '../view/view.ts';
import { bodies, parseBody } from './bodies.ts';
import { getTree, type Handler, requireInjection, requireUiAutomation, type Command } from './command.ts';
import { WebDriverError } from './web-driver-error.ts';

const shiftOn = 1;
const buttonId = /^android:id\/button\d$/;

export const source: Handler = async (command) => {
  const { android, faults } = command.phone;
  faults.beforeReading?.();
  const { settings, nodes } = command.session;
  await command.session.readInTurn(() => getTree(command));
  if (settings.get('deferAccessibilityCacheReset') !== true) nodes.clear();
  return sourceXml(nodes.look(android.screen, faults.eventIntervalMs), {
    maxDepth: Number(settings.get('snapshotMaxDepth')),
    allWindows: settings.get('enableMultiWindows') === true,
    hasWebPages: !faults.emptyWebPages,
    announced: android.notices.announced,
    otherDisplays: faults.listsAllDisplays ? android.otherDisplays : [],
  });
};

export const resetCache: Handler = ({ session }) => session.nodes.clear();

/** WindowModel of appium-uiautomator2-server. */
export const listWindows: Handler = ({ phone }) => {
  requireUiAutomation(phone);
  return listTouchWindows(phone.android.screen).map(({ window: { root }, area }, index) => ({
    windowId: index + 1,
    displayId: 0,
    physicalDisplayId: null,
    rect: { x: area.left, y: area.top, width: rectWidth(area), height: rectHeight(area) },
    packageName: root.packageName,
    screenshot: null,
  }));
};

export const listDisplays: Handler = ({ phone }) => {
  const { width, height, density } = phone.android.display;
  const scale = density / 160;
  const metrics = {
    widthPixels: width,
    heightPixels: height,
    density: scale,
    densityDpi: density,
    scaledDensity: scale,
    xdpi: density,
    ydpi: density,
  };
  return [{ id: 0, physicalId: mainPanel, metrics, isDefault: true }];
};

/** An app that is not in front is told nothing, and not that it is. */
export const getClipboard: Handler = ({ phone: { android } }) =>
  Buffer.from(android.identity.release.showsClipboard ? android.clipboard : '').toString('base64');

export const setClipboard: Handler = ({ phone, body }) => {
  const { content } = parseBody(bodies.clipboard, body);
  phone.android.clipboard = Buffer.from(content, 'base64').toString();
};

export const screenshot: Handler = async ({ phone }) => {
  requireUiAutomation(phone);
  if (phone.faults.secureWindow || phone.faults.forbidsCapture) {
    const message = "Failed to capture a screenshot. Does the current view have 'secure' flag set?";
    throw new WebDriverError('unable to capture screen', message);
  }
  return (await phone.camera.take('png')).toString('base64');
};

export const back: Handler = ({ phone }) => {
  requireInjection(phone, 'gesture');
  pressBack(phone.android);
};

export const pressKeyCode: Handler = ({ phone, body }) => {
  const { keycode, metastate = 0 } = parseBody(bodies.keyCode, body);
  requireInjection(phone, 'key', keycode);
  pressKey(phone.android, keycode, (metastate & shiftOn) !== 0);
};

export const openNotifications: Handler = ({ phone }) => {
  requireUiAutomation(phone);
  phone.android.setOverlay(phone.faults.statusBarDisabled ? undefined : 'shade');
};

export const deviceInfo: Handler = ({ phone }) => {
  const { identity, display } = phone.android;
  return {
    androidId: 'a1b2c3d4e5f60718',
    manufacturer: identity.maker.manufacturer,
    model: identity.model,
    brand: identity.brand,
    apiVersion: String(identity.sdkVersion),
    platformVersion: identity.androidVersion,
    carrierName: '',
    realDisplaySize: `${display.width}x${display.height}`,
    displayDensity: display.density,
    networks: [],
    locale: 'en_US',
    timeZone: 'UTC',
    bluetooth: { state: 'OFF' },
  };
};

export const batteryInfo: Handler = ({ phone: { android } }) => ({
  level: android.battery.level / 100,
  status: android.battery.isPlugged ? 2 : 3,
});
export const systemBars: Handler = ({ phone }) => ({
  statusBar: toPixels(phone.android.display, statusBarHeightDp),
});
export const displayDensity: Handler = ({ phone }) => phone.android.display.density;
export const pixelRatio: Handler = ({ phone }) => phone.android.display.density / 160;
export const windowSize: Handler = ({ phone }) => ({
  width: phone.android.display.width,
  height: phone.android.display.height,
});
const isLandscape = (quarterTurns: number) => quarterTurns % 2 === 1;

function rotate(phone: Phone, quarterTurns: number): void {
  requireUiAutomation(phone);
  const table = phone.android.settings.findTable('system');
  table?.set('accelerometer_rotation', '0');
  table?.set('user_rotation', String(quarterTurns));
  phone.android.redraw();
}

export const orientation: Handler = ({ phone }) =>
  isLandscape(phone.android.rotation) ? 'LANDSCAPE' : 'PORTRAIT';
export const setOrientation: Handler = ({ phone, body }) => {
  const { orientation: wanted } = parseBody(bodies.orientation, body);
  rotate(phone, wanted === 'LANDSCAPE' ? 1 : 0);
  return wanted;
};
/** No app of this phone asks for one in its manifest. */
export const declaredOrientation: Handler = () => 'SCREEN_ORIENTATION_UNSPECIFIED';
export const rotation: Handler = ({ phone }) => ({ x: 0, y: 0, z: phone.android.rotation * 90 });
export const setRotation: Handler = ({ phone, body }) => {
  rotate(phone, (parseBody(bodies.rotation, body).z / 90) % 4);
};

export const getSettings: Handler = ({ session }) => session.settings.all();

export const updateSettings: Handler = ({ phone, session, body }) => {
  for (const [name, value] of Object.entries(parseBody(bodies.settings, body).settings)) {
    session.settings.update(name, value);
    if (name === 'wakeLockTimeout' && typeof value === 'number') phone.android.holdScreen(value);
  }
};

/** All views of the open dialog. Throws "no such alert". */
async function getAlert(command: Command): Promise<VisibleView[]> {
  const views = walk(await getTree(command)).toArray();
  if (views.some(({ view }) => view.resourceId === 'android:id/alertTitle')) return views;
  throw new WebDriverError('no such alert', 'No alert is present on the screen');
}

export const alertText: Handler = async (command) =>
  (await getAlert(command))
    .filter(
      ({ view }) =>
        view.resourceId !== undefined && !buttonId.test(view.resourceId) && (view.text ?? '') !== '',
    )
    .map(({ view }) => view.text)
    .join('\n');

/** Accepting takes the button with the lowest number, dismissing the next one, unless a label is given. */
async function pressButton(command: Command, index: number): Promise<string> {
  const { buttonLabel } = parseBody(bodies.alert, command.body ?? {});
  requireInjection(command.phone, 'gesture');
  const buttons = (await getAlert(command))
    .filter(({ view }) => buttonId.test(view.resourceId ?? ''))
    .sort((a, b) => ((a.view.resourceId ?? '') < (b.view.resourceId ?? '') ? -1 : 1));
  const button = buttonLabel
    ? buttons.find(({ view }) => view.text === buttonLabel)
    : (buttons[index] ?? buttons[0]);
  if (!button)
    throw new WebDriverError('invalid element state', 'The expected button cannot be detected on the alert');
  tap(command.phone.android, center(button.bounds));
  return button.view.text ?? '';
}

export const acceptAlert: Handler = (command) => pressButton(command, 0);
export const dismissAlert: Handler = (command) => pressButton(command, 1);
