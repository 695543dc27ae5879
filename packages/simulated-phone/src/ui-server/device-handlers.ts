import { pressKey } from '../android/input/press-key.ts';
import { listTouchWindows } from '../screen/screen.ts';
import { sourceXml } from '../screen/source-xml.ts';
import { rectHeight, rectWidth } from '../view/rect.ts';
import { bodies, parseBody } from './bodies.ts';
import { getTree, type Handler, requireInjection, requireUiAutomation } from './command.ts';
import { WebDriverError } from './web-driver-error.ts';

const shiftOn = 1;

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

/** Returns windows like WindowModel of appium-uiautomator2-server. */
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

/** Returns the clipboard. An app in the background gets an empty one without an error. */
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

export const pressKeyCode: Handler = ({ phone, body }) => {
  const { keycode, metastate = 0 } = parseBody(bodies.keyCode, body);
  requireInjection(phone, 'key', keycode);
  pressKey(phone.android, keycode, (metastate & shiftOn) !== 0);
};

export const openNotifications: Handler = ({ phone }) => {
  requireUiAutomation(phone);
  phone.android.setOverlay(phone.faults.statusBarDisabled ? undefined : 'shade');
};

export const getSettings: Handler = ({ session }) => session.settings.all();

export const updateSettings: Handler = ({ phone, session, body }) => {
  for (const [name, value] of Object.entries(parseBody(bodies.settings, body).settings)) {
    session.settings.update(name, value);
    if (name === 'wakeLockTimeout' && typeof value === 'number') phone.android.holdScreen(value);
  }
};
