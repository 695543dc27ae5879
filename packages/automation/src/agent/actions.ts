import type { AgentBridge } from './agent-bridge.ts';
import type { AgentParts } from './agent-parts.ts';
import { createAndroidNode, type NodeTouch } from './nodes/android-node.ts';
import { createPointer } from './pointer.ts';
import { presetOf } from './screenshot-record.ts';
import { rememberTree } from './nodes/tree-ids.ts';

/** Android's key codes by name, as in android.view.KeyEvent without `KEYCODE_`. */
const keyCodes: Record<AndroidKey, number> = {
  HOME: 3,
  BACK: 4,
  DPAD_UP: 19,
  DPAD_DOWN: 20,
  DPAD_LEFT: 21,
  DPAD_RIGHT: 22,
  DPAD_CENTER: 23,
  VOLUME_UP: 24,
  VOLUME_DOWN: 25,
  POWER: 26,
  CAMERA: 27,
  TAB: 61,
  SPACE: 62,
  ENTER: 66,
  DEL: 67,
  MENU: 82,
  SEARCH: 84,
  MEDIA_PLAY_PAUSE: 85,
  PAGE_UP: 92,
  PAGE_DOWN: 93,
  ESCAPE: 111,
  FORWARD_DEL: 112,
  MOVE_HOME: 122,
  MOVE_END: 123,
  APP_SWITCH: 187,
  SLEEP: 223,
  WAKEUP: 224,
  CUT: 277,
  COPY: 278,
  PASTE: 279,
};

type Actions = Omit<AgentActions, keyof AgentWaits>;

export function createActions({ bridge, sleep, steps }: AgentParts): Actions {
  const pointer = createPointer(bridge);
  return {
    ...pointer,
    hold: pointer.longPress,
    ...screenActions(bridge, { ...pointer, ...keyActions(bridge), runStep: steps.run }),
    ...keyActions(bridge),
    ...appActions(bridge),
    ...dialogActions(bridge),
    sleep,
  };
}

function screenActions(
  bridge: AgentBridge,
  touch: NodeTouch,
): Pick<Actions, 'screenContent' | 'windows' | 'screenshot'> {
  return {
    // No `await` before the call, so that a failure's stack begins at the caller's line.
    screenContent: ({ signal } = {}) =>
      bridge
        .call('screen.content', {}, signal)
        .then(({ root, ...facts }) => rememberTree(createAndroidNode(root, touch), facts)),
    windows: () =>
      bridge.call('screen.windows', {}).then((windows) =>
        windows.map(({ root, isKeyboard }) => ({
          packageName: root.packageName,
          isKeyboard,
          root: createAndroidNode(root, touch),
        })),
      ),
    screenshot: (wanted) => {
      const { signal, ...options } = presetOf(wanted);
      return bridge.call('screen.screenshot', options, signal);
    },
  };
}

function keyActions(
  bridge: AgentBridge,
): Pick<
  Actions,
  | 'writeText'
  | 'clearText'
  | 'inputKey'
  | 'performEditorAction'
  | 'dpad'
  | 'back'
  | 'home'
  | 'recents'
  | 'notifications'
  | 'setClipboard'
  | 'getClipboard'
> {
  const press = (key: number | AndroidKey): Promise<void> =>
    bridge.call('input.key', { keyCode: keyCodeOf(key) });
  return {
    writeText: (text) => bridge.call('input.text', { text: String(text) }),
    clearText: () => bridge.call('input.clearText', {}),
    inputKey: async (key) => press(key),
    performEditorAction: () => press('ENTER'),
    dpad: async (direction) => press(keyCodeOf(`DPAD_${direction.toUpperCase()}`)),
    setClipboard: (text) => bridge.call('clipboard.write', { text: String(text) }),
    getClipboard: () => bridge.call('clipboard.read', {}),
    back: () => bridge.call('navigate.back', {}),
    home: () => bridge.call('navigate.home', {}),
    recents: () => bridge.call('navigate.recents', {}),
    notifications: () => bridge.call('navigate.notifications', {}),
  };
}

const quarterTurns = { portrait: 0, landscape: 1, portraitReversed: 2, landscapeReversed: 3 } as const;

function dialogActions(
  bridge: AgentBridge,
): Pick<
  Actions,
  | 'acceptAlert'
  | 'dismissAlert'
  | 'rotate'
  | 'announcements'
  | 'hideKeyboard'
  | 'readNotifications'
  | 'setAnimations'
  | 'setPhoneSettings'
> {
  const press = (answer: 'accept' | 'dismiss', button: string | undefined): Promise<string> =>
    bridge.call('alert.press', { answer, ...(button !== undefined && { button: String(button) }) });
  return {
    acceptAlert: async (button) => press('accept', button),
    dismissAlert: async (button) => press('dismiss', button),
    rotate: async (to) => {
      if (!Object.hasOwn(quarterTurns, to))
        throw new TypeError(`A screen is turned to ${Object.keys(quarterTurns).join(', ')}.`);
      return bridge.call('screen.rotate', { quarterTurns: quarterTurns[to] });
    },
    announcements: () => bridge.call('screen.content', {}).then(({ announced = [] }) => announced),
    readNotifications: () => bridge.call('notification.list', {}),
    setAnimations: (isOn) => bridge.call('screen.animations', { isOn }),
    setPhoneSettings: async ({ httpProxy, timeZone, locale, location, brightness }, { signal } = {}) =>
      bridge.call(
        'phone.settings',
        {
          ...(httpProxy !== undefined && { http_proxy: httpProxy }),
          ...(timeZone !== undefined && { time_zone: timeZone }),
          ...(locale !== undefined && { locale }),
          ...(location !== undefined && { location }),
          ...(brightness !== undefined && { brightness }),
        },
        signal,
      ),
    hideKeyboard: () => bridge.call('input.hideKeyboard', {}),
  };
}

/** The part of a call's parameters that says whose app is meant. */
export const ofUser = ({ user }: Pick<AppOptions, 'user'>): { user?: number } =>
  user === undefined ? {} : { user };

function appActions(bridge: AgentBridge): Pick<Actions, 'launchApp' | 'openLink' | 'stopApp' | 'currentApp'> {
  return {
    openLink: async (url, packageName) =>
      bridge.call('app.openLink', { url: String(url), ...(packageName !== undefined && { packageName }) }),
    launchApp: (packageName, { signal, ...of } = {}) =>
      bridge.call('app.launch', { packageName, ...ofUser(of) }, signal),
    stopApp: (packageName, { signal, ...of } = {}) =>
      bridge.call('app.stop', { packageName, ...ofUser(of) }, signal),
    currentApp: () => bridge.call('app.current', {}),
  };
}

/** The code of a key. Throws a TypeError for a name that is not in the table. */
function keyCodeOf(key: number | string): number {
  if (typeof key === 'number') return key;
  const name = String(key)
    .toUpperCase()
    .replace(/^KEYCODE_/, '');
  const codes: Record<string, number | undefined> = keyCodes;
  const code = Object.hasOwn(codes, name) ? codes[name] : undefined;
  if (code === undefined)
    throw new TypeError(
      `There is no key ${name}. Use Android's key code as a number, or one of: ${Object.keys(codes).join(', ')}.`,
    );
  return code;
}
