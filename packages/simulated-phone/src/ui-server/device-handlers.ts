import { statusBarHeightDp, toPixels } from '../android/display.ts';
import { pressBack } from '../android/press-back.ts';
import { pressKey } from '../android/press-key.ts';
import { sourceXml } from '../screen/source-xml.ts';
import { bodies, parseBody } from './bodies.ts';
import { getTree, type Handler } from './command.ts';
import { WebDriverError } from './web-driver-error.ts';

const shiftOn = 1;

export const source: Handler = (command) => {
  getTree(command);
  return sourceXml(command.phone.android.screen);
};

export const screenshot: Handler = async ({ phone }) => {
  if (phone.faults.secureWindow) {
    const message = "Failed to capture a screenshot. Does the current view have 'secure' flag set?";
    throw new WebDriverError('unable to capture screen', message);
  }
  return (await phone.camera.take('png')).toString('base64');
};

export const back: Handler = ({ phone }) => pressBack(phone.android);

export const pressKeyCode: Handler = ({ phone, body }) => {
  const { keycode, metastate = 0 } = parseBody(bodies.keyCode, body);
  pressKey(phone.android, keycode, (metastate & shiftOn) !== 0);
};

export const openNotifications: Handler = ({ phone }) => phone.android.setOverlay('shade');

export const deviceInfo: Handler = ({ phone }) => {
  const { identity, display } = phone.android;
  return {
    androidId: 'a1b2c3d4e5f60718',
    manufacturer: identity.brand,
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

export const batteryInfo: Handler = () => ({ level: 1, status: 5 });
export const systemBars: Handler = ({ phone }) => ({
  statusBar: toPixels(phone.android.display, statusBarHeightDp),
});
export const displayDensity: Handler = ({ phone }) => phone.android.display.density;
export const pixelRatio: Handler = ({ phone }) => phone.android.display.density / 160;
export const windowSize: Handler = ({ phone }) => ({
  width: phone.android.display.width,
  height: phone.android.display.height,
});
export const orientation: Handler = () => 'PORTRAIT';
export const rotation: Handler = () => ({ x: 0, y: 0, z: 0 });

export const getSettings: Handler = ({ session }) => Object.fromEntries(session.settings);

export const updateSettings: Handler = ({ session, body }) => {
  for (const [name, value] of Object.entries(parseBody(bodies.settings, body).settings)) {
    if (session.settings.size < 100) session.settings.set(name, value);
  }
};
