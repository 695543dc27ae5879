import type { AgentBridge, AgentParts } from './agent-parts.ts';
import { createAndroidNode, type NodeTouch } from './nodes/android-node.ts';
import { presetOf } from './screenshot-record.ts';
import { rememberTree } from './nodes/tree-ids.ts';

/** Android key codes by name: those of android.view.KeyEvent without the prefix `KEYCODE_`. */
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

const defaultHoldMs = 1000;
const defaultSwipeMs = 300;

const defaultDragMs = 500;
const defaultPinchMs = 400;

type Actions = Omit<AgentActions, keyof AgentWaits>;

export function createActions({ bridge, sleep, steps }: AgentParts): Actions {
  const pointer = createPointer(bridge);
  return {
    ...pointer,
    hold: pointer.longPress,
    ...screenActions(bridge, { ...createNodeTouch(bridge), ...keyActions(bridge), runStep: steps.run }),
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
    // Calls without `await`, so that the stack of a failure begins at the caller's line.
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
    setPhoneSettings: async (
      { httpProxy, timeZone, locale, location, brightness, headsUp },
      { signal } = {},
    ) =>
      bridge.call(
        'phone.settings',
        {
          ...(httpProxy !== undefined && { http_proxy: httpProxy }),
          ...(timeZone !== undefined && { time_zone: timeZone }),
          ...(locale !== undefined && { locale }),
          ...(location !== undefined && { location }),
          ...(brightness !== undefined && { brightness }),
          ...(headsUp !== undefined && { heads_up: headsUp }),
        },
        signal,
      ),
    hideKeyboard: () => bridge.call('input.hideKeyboard', {}),
  };
}

/** Returns the parameters that select the Android user of an app. */
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

/** Returns the code of a key. Throws a TypeError for an unknown name. */
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

/** Touches nodes, which the host locates on the current screen. */
function createNodeTouch(bridge: AgentBridge): Pick<NodeTouch, 'tap' | 'doubleTap' | 'longPress'> {
  return {
    tap: async (x, y, aim) => void (await bridge.call('input.tap', { ...pointOf(x, y), ...aim })),
    doubleTap: async (x, y, aim) => bridge.call('input.doubleTap', { ...pointOf(x, y), ...aim }),
    longPress: async (x, y, { durationMs = defaultHoldMs, ...aim }) =>
      bridge.call('input.longPress', {
        ...pointOf(x, y),
        ...aim,
        durationMs: whole('durationMs', durationMs),
      }),
  };
}

type Pointer = Pick<AgentActions, 'tap' | 'doubleTap' | 'longPress' | 'swipe' | 'drag' | 'pinch'>;

/** Touches the screen at coordinates, which are rounded to the nearest pixel. */
function createPointer(bridge: AgentBridge): Pointer {
  return {
    tap: async (x, y) => void (await bridge.call('input.tap', pointOf(x, y))),
    doubleTap: async (x, y) => bridge.call('input.doubleTap', pointOf(x, y)),
    // oxlint-disable-next-line max-params -- the published signature of the agent API, and its options
    longPress: async (x, y, durationMs = defaultHoldMs, { signal } = {}) =>
      bridge.call(
        'input.longPress',
        { ...pointOf(x, y), durationMs: whole('durationMs', durationMs) },
        signal,
      ),
    // oxlint-disable-next-line max-params -- the published signature of the agent API
    swipe: async (fromX, fromY, toX, toY, durationMs = defaultSwipeMs, { signal } = {}) =>
      void (await bridge.call('input.swipe', wayOf({ fromX, fromY, toX, toY, durationMs }), signal)),
    // oxlint-disable-next-line max-params -- the same as of `swipe`
    drag: async (fromX, fromY, toX, toY, durationMs = defaultDragMs, { signal } = {}) =>
      bridge.call('input.drag', wayOf({ fromX, fromY, toX, toY, durationMs }), signal),
    // oxlint-disable-next-line max-params -- a point and two distances
    pinch: async (x, y, fromDistance, toDistance, durationMs = defaultPinchMs, { signal } = {}) => {
      const way = (side: number): { fromX: number; fromY: number; toX: number; toY: number } => ({
        fromX: whole('x', x),
        fromY: Math.max(0, whole('fromDistance', y + (side * fromDistance) / 2)),
        toX: whole('x', x),
        toY: Math.max(0, whole('toDistance', y + (side * toDistance) / 2)),
      });
      const order = { ways: [way(-1), way(1)], durationMs: whole('durationMs', durationMs) };
      return bridge.call('input.fingers', order, signal);
    },
  };
}

type Way = Record<'fromX' | 'fromY' | 'toX' | 'toY' | 'durationMs', number>;

function wayOf({ fromX, fromY, toX, toY, durationMs }: Way): Way {
  return {
    fromX: whole('fromX', fromX),
    fromY: whole('fromY', fromY),
    toX: whole('toX', toX),
    toY: whole('toY', toY),
    durationMs: whole('durationMs', durationMs),
  };
}

function pointOf(x: number, y: number): { x: number; y: number } {
  return { x: whole('x', x), y: whole('y', y) };
}

function whole(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.round(value);
  throw new TypeError(`${name} must be a number, but it is ${value === null ? 'null' : typeof value}.`);
}
