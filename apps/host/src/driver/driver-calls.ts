import type {
  AgentCallParams,
  AgentCallResult,
  DeviceInfo,
  PhoneCallName,
  ScreenPicture,
  WindowTree,
} from '@phalanx/protocol';
import { type AppLauncher, openLink, stopApp, listUsers } from './apps/apps.ts';
import { readCurrentApp } from './apps/front-app.ts';
import { clearAppData, listApps, setPermission, uninstallApp, installApp } from './apps/change-apps.ts';
import { listNotifications } from './apps/notifications.ts';
import { listMessages } from './apps/text-messages.ts';
import { findMainPanel } from './pictures/main-panel.ts';
import { explained, explainerOf } from './pictures/missing-picture.ts';
import { encodeScreenshot } from './pictures/taken-picture.ts';
import { scanFile } from './shell/media-scan.ts';
import { deleteFile, listFiles, readFilePart, writeFilePart } from './shell/phone-files.ts';
import { hideKeyboard } from './hide-keyboard.ts';
import type { MaskedScreen } from './masks/masked-screen.ts';
import { screencap, type Shot } from './fallback/screencap.ts';
import { type PhoneShell, runShellCommand } from './shell/phone-shell.ts';
import { takeOfAnyMoment } from './pictures/picture-of-moment.ts';
import { openNotifications } from './open-notifications.ts';
import { pressAlert } from './press-alert.ts';
import { rotate } from './rotate.ts';
import type { ScreenChange } from './screen-change.ts';
import { changeSettings, type EarlierValues, putSettingsBack } from './settings/change-settings.ts';
import { type ChangedSettings, placesOf } from './settings/setting-ways.ts';
import { findKeyboard } from './apps/keyboard.ts';
import type { Point } from './touch/rectangles.ts';
import { TouchFinder } from './touch/touch-finder.ts';
import type { TouchLimit } from './touch/touch-limit.ts';
import { clearText, typeText } from './typing/type-text.ts';
import type { PasswordMemory, Touches } from './typed-password.ts';
import type { UiBackend } from './ui-backend.ts';

export type Calls = {
  [Name in PhoneCallName]: (
    params: AgentCallParams<Name>,
    signal: AbortSignal,
  ) => Promise<AgentCallResult<Name>>;
};

interface CalledParts {
  readonly shell: PhoneShell;
  readonly backend: UiBackend;
  /** Reads the screen. */
  readonly screen: MaskedScreen;
  readonly touches: Touches;
  readonly change: ScreenChange;
  readonly deviceInfo: () => DeviceInfo;
  readonly earlier: EarlierValues;
  readonly launcher: AppLauncher;
  /** Limits to the apps that the caller may use. */
  readonly limits: readonly TouchLimit[];
  /** Passwords that the caller has typed. */
  readonly passwords: PasswordMemory;
  /** Called before a call writes to the clipboard. */
  readonly onCopy: () => void;
}

/** Calls that change nothing on the phone. */
export const readings: ReadonlySet<PhoneCallName> = new Set([
  'screen.content',
  'screen.change',
  'screen.reach',
  'screen.screenshot',
  'app.current',
  'device.info',
  'clipboard.read',
  'screen.windows',
  'notification.list',
  'message.list',
  'app.list',
  'user.list',
  'file.list',
  'file.read',
]);

const animationPlaces: ReadonlySet<string> = new Set(placesOf({ animations: false }));

const keyHome = 3;
const keyBack = 4;
const keyAppSwitch = 187;

/** Returns the start of a gesture: a finger belongs to the window where it came down, wherever it moves. */
const startOf = ({ fromX, fromY }: { fromX: number; fromY: number }): Point => ({ x: fromX, y: fromY });

/** Implements each call on a phone. */
export function callsOf(parts: CalledParts): Calls {
  const { shell, backend, screen, touches, change, deviceInfo, earlier } = parts;
  const { launcher, onCopy, limits } = parts;
  const finder = new TouchFinder({
    shell,
    backend,
    screen,
    limits,
    hideKeyboard: (signal) => hideKeyboard({ shell, backend, touches }, signal),
  });
  const set = (settings: ChangedSettings, signal: AbortSignal): Promise<void> =>
    changeSettings({ shell, earlier, ...deviceInfo() }, settings, signal);
  return {
    'screen.content': async (_, signal) => {
      const timeOf = change.begin();
      const { tree, snapshot } = await screen.read(signal);
      const remark = backend.remark?.();
      return {
        ...tree,
        capturedAt: timeOf(snapshot),
        source: backend.source,
        ...(remark !== undefined && { remark }),
      };
    },
    'screen.change': (params, signal) => change.wait(params, signal),
    'screen.windows': (_, signal) => readWindows(shell, screen, signal),
    'screen.animations': ({ isOn }, signal) =>
      isOn
        ? putSettingsBack({ shell, earlier }, (place) => animationPlaces.has(place), signal)
        : set({ animations: false }, signal),
    'phone.settings': set,
    'notification.list': async (_, signal) =>
      screen.hideNotifications(await listNotifications(shell, signal)),
    'screen.screenshot': (params, signal) => takeScreenshot(parts, params, signal),
    'screen.reach': ({ on }, signal) => finder.reach(on, signal),
    'input.tap': async ({ tellWindow = false, ...touch }, signal) => {
      const point = await finder.pointOf(touch, signal);
      const window = tellWindow ? await finder.windowAt(point, signal) : null;
      await backend.tap(point, signal);
      return window;
    },
    'input.doubleTap': async (touch, signal) =>
      backend.doubleTap(await finder.pointOf(touch, signal), signal),
    'input.longPress': async (touch, signal) => {
      const point = await finder.pointOf(touch, signal);
      await backend.longPress({ ...point, durationMs: touch.durationMs }, signal);
    },
    'input.swipe': async ({ tellWindow = false, ...way }, signal) => {
      await finder.requireAllowed([startOf(way)], signal);
      const window = tellWindow ? await finder.windowAt(startOf(way), signal) : null;
      await backend.swipe(way, signal);
      return window;
    },
    'input.drag': async (way, signal) => {
      await finder.requireAllowed([startOf(way)], signal);
      await backend.drag(way, signal);
    },
    'input.fingers': async (fingers, signal) => {
      await finder.requireAllowed(fingers.ways.map(startOf), signal);
      await backend.moveFingers(fingers, signal);
    },
    'input.hideKeyboard': (_, signal) => hideKeyboard({ shell, backend, touches }, signal),
    'alert.press': (press, signal) => pressAlert({ screen, backend, finder }, press, signal),
    'screen.rotate': ({ quarterTurns }, signal) => rotate(shell, quarterTurns, signal),
    'input.text': ({ text }, signal) => typeText(parts, text, signal),
    'input.clearText': (_, signal) => clearText(parts, signal),
    'clipboard.read': (_, signal) => backend.readClipboard(signal),
    'clipboard.write': ({ text }, signal) => {
      onCopy();
      return backend.writeClipboard(text, signal);
    },
    'input.key': ({ keyCode }, signal) => backend.pressKey(keyCode, signal),
    'navigate.back': (_, signal) => backend.pressKey(keyBack, signal),
    'navigate.home': (_, signal) => backend.pressKey(keyHome, signal),
    'navigate.recents': (_, signal) => backend.pressKey(keyAppSwitch, signal),
    'navigate.notifications': (_, signal) => openNotifications({ shell, backend }, signal),
    'message.list': (params, signal) => listMessages(shell, params, signal),
    'app.launch': (app, signal) => launcher.launch(app, signal),
    'app.stop': (app, signal) => stopApp(shell, app, signal),
    'app.openLink': (params, signal) => openLink(shell, params, signal),
    'app.current': (_, signal) => readCurrentApp(shell, signal),
    'app.list': (params, signal) => listApps(shell, params, signal),
    'user.list': (_, signal) => listUsers(shell, signal),
    'app.install': (params, signal) => installApp(shell, params, signal),
    'app.uninstall': (app, signal) => uninstallApp(shell, app, signal),
    'app.clearData': (app, signal) => clearAppData(shell, app, signal),
    'app.setPermission': (params, signal) => setPermission(shell, params, signal),
    'file.list': ({ path }, signal) => listFiles(shell, path, signal),
    'file.read': (params, signal) => readFilePart(shell, params, signal),
    'file.write': (params, signal) => writeFilePart(shell, params, signal),
    'file.scan': ({ path }, signal) => scanFile(shell, { path, sdkVersion: deviceInfo().sdkVersion }, signal),
    'file.delete': ({ path }, signal) => deleteFile(shell, path, signal),
    'phone.shell': (params, signal) => runShellCommand(shell, params, signal),
    'device.info': async () => deviceInfo(),
  };
}

async function takeScreenshot(
  { screen, backend, shell }: Pick<CalledParts, 'screen' | 'backend' | 'shell'>,
  params: AgentCallParams<'screen.screenshot'>,
  signal: AbortSignal,
): Promise<ScreenPicture> {
  const explain = explainerOf(shell, undefined);
  const takeFile = async (): Promise<Buffer> => {
    // Android's own pictures show the panel that Android considers the first.
    if ((await findMainPanel(shell, signal)) === undefined) return await backend.takeScreenshot(signal);
    return await (
      await screencap(shell, signal)
    ).file;
  };
  const take = async (): Promise<Shot> => ({ file: Promise.resolve(await explained(takeFile(), explain)) });
  if (!screen.hasNodeMasks)
    return encodeScreenshot(await (await take()).file, params, { hidden: screen.areas, explain });
  const { file, hidden } = await takeOfAnyMoment({
    read: () => screen.read(signal),
    readAgain: (before) => screen.readAgain(before, signal),
    readAllHidden: (front) => screen.readAllHidden(front, signal),
    take,
  });
  return encodeScreenshot(await file, params, { hidden, explain });
}

/**
 * Reads the windows. Identifies the keyboard by its package, because Android does not report the type of a window to
 * the helper.
 */
async function readWindows(
  shell: PhoneShell,
  screen: MaskedScreen,
  signal: AbortSignal,
): Promise<WindowTree[]> {
  const roots = await screen.readWindows(signal);
  const keyboard = await findKeyboard(shell, signal);
  return roots.map((root) => ({ root, isKeyboard: root.packageName === keyboard }));
}
