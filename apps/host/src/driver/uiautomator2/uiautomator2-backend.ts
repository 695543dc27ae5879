import type { AgentCallParams, UiNode } from '@phalanx/protocol';

import { DriverError } from '../driver-error.ts';
import { createFallbackBackend } from '../fallback/fallback-backend.ts';
import { createFrameSource } from '../frames/frame-source.ts';
import type { HelperRenewal, Renewals } from '../renewals.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { isDark, wakefulnessQuestion } from '../shell/wakefulness.ts';
import type { TouchWindow } from '../touch/touch-look.ts';
import { XmlScreen, type SnapshotText } from '../tree/xml-screen.ts';
import type { UiBackend } from '../ui-backend.ts';
import { createHelperSession, type HelperSession } from './helper-session.ts';
import { type HelperLaunch, isReady, lastLines, startHelper } from './start-helper.ts';
import { createFieldTyper } from './text-field.ts';
import type { HostTimings } from '../../time/host-timings.ts';
import { pause } from '../../time/time-limit.ts';
import { parseRoots } from '../tree/parse-tree.ts';

interface Way {
  readonly fromX: number;
  readonly fromY: number;
  readonly toX: number;
  readonly toY: number;
}

/** Hold time in ms that grabs what is below a finger: Android expects a finger to rest for longer than 500 ms. */
export const grabMs = 700;

/** First API level (Android 10) at which only the app in front and the keyboard may read the clipboard. */
const closedSinceSdk = 29;

export interface HelpedPhone {
  readonly sdkVersion: number;
  /** Size of the upright screen, in pixels. */
  readonly screenWidth: number;
}

/**
 * Starts the helper on the phone and connects to it. Rejects with `ui_helper_failed` when the helper is unavailable.
 */
export async function createUiautomator2Backend(
  shell: PhoneShell,
  { sdkVersion, screenWidth }: HelpedPhone,
  { signal, onLaunched }: HelperLaunch,
  renewals: Renewals,
): Promise<UiBackend> {
  const helper = await startHelper(shell, sdkVersion, { signal, onLaunched });
  const failed = new AbortController();
  void helper.ended.then((output) =>
    failed.abort(
      new DriverError('ui_helper_failed', `The UI helper on the phone stopped: ${lastLines(output)}.`),
    ),
  );
  const session = createHelperSession(helper.http, failed, screenWidth);
  try {
    await session.open(signal);
  } catch (error) {
    helper.stop();
    throw error;
  }
  const frames = createFrameSource(shell);
  return {
    source: 'uiautomator2',
    failed: failed.signal,
    frames,
    ...actions(session, sdkVersion),
    ...screen(),
    ...upkeep(),
  };

  function screen(): Pick<UiBackend, 'readSource' | 'readWindows' | 'readTouchWindows' | 'remark'> &
    QuickInput {
    const onRenewal = (renewal: HelperRenewal): void => failed.abort(renewal);
    const isAwake = async (limit: AbortSignal): Promise<boolean> =>
      !isDark((await shell.run(wakefulnessQuestion, limit)).stdout);
    const reader = createTreeReader({ session, renewals, isAwake, onRenewal });
    let appInFront = '';
    return {
      ...createQuickInput(
        actions(session, sdkVersion),
        createFallbackBackend(shell),
        renewals.timings,
        () => appInFront,
      ),
      async readSource(readSignal, known) {
        const before = known instanceof XmlScreen ? known : undefined;
        const told = await reader.readActive(readSignal, before);
        const seen = told === before ? before : new XmlScreen(told);
        appInFront = seen.packageName;
        return seen;
      },
      readWindows: (windowsSignal) => reader.readAll(windowsSignal),
      readTouchWindows: (windowsSignal) => session.listWindows(windowsSignal),
      remark: () => renewals.remark,
    };
  }

  function upkeep(): Upkeep {
    return {
      async probe(probeSignal) {
        if (await isReady(helper.http, probeSignal)) return;
        throw new DriverError('ui_helper_failed', 'The UI helper on the phone does not answer.');
      },
      probeScreen: (probeSignal) => session.probe(probeSignal),
      keepAwake: async (forMs, wakeSignal) =>
        void (await session.post('appium/settings', { settings: { wakeLockTimeout: forMs } }, wakeSignal)),
      close: () => {
        frames.close();
        helper.stop();
      },
    };
  }
}

type Actions = Omit<
  UiBackend,
  'source' | 'failed' | 'frames' | 'remark' | 'readSource' | 'readWindows' | 'readTouchWindows' | keyof Upkeep
>;
type QuickInput = ReturnType<typeof createQuickInput>;
type Upkeep = Pick<UiBackend, 'probe' | 'probeScreen' | 'keepAwake' | 'close'>;

function actions(session: HelperSession, sdkVersion: number): Actions {
  const post = async (path: string, body: unknown, signal: AbortSignal): Promise<void> => {
    await session.post(path, body, signal);
  };
  const typer = createFieldTyper(session);
  return {
    takeScreenshot: async (signal) =>
      Buffer.from((await session.getText('screenshot', signal)).text, 'base64'),
    tap: (offset, signal) => post('appium/gestures/click', { offset }, signal),
    doubleTap: (offset, signal) => post('appium/gestures/double_click', { offset }, signal),
    longPress: ({ x, y, durationMs }, signal) =>
      post('appium/gestures/long_click', { offset: { x, y }, duration: durationMs }, signal),
    swipe: (swipe, signal) => post('actions', { actions: swipeActions(swipe) }, signal),
    drag: (way, signal) => post('actions', { actions: dragActions(way) }, signal),
    moveFingers: (fingers, signal) => post('actions', { actions: fingersActions(fingers) }, signal),
    typeText: (text, memory, signal) => typer.type(text, memory, signal),
    clearText: (signal) => typer.clear(signal),
    readField: (signal) => typer.read(signal),
    readClipboard: (signal) => readClipboard(session, sdkVersion, signal),
    writeClipboard: (text, signal) => writeClipboard(session, text, signal),
    pressKey: (keycode, signal) => post('appium/device/press_keycode', { keycode }, signal),
    openNotifications: (signal) => post('appium/device/open_notifications', {}, signal),
  };
}

/** Reads the clipboard. When Android hides it from the helper, the helper gets an empty text and no error. */
async function readClipboard(
  session: HelperSession,
  sdkVersion: number,
  signal: AbortSignal,
): Promise<string> {
  const value = await session.post('appium/device/get_clipboard', {}, signal);
  const text = Buffer.from(typeof value === 'string' ? value : '', 'base64').toString();
  if (text !== '' || sdkVersion < closedSinceSdk) return text;
  throw new DriverError(
    'clipboard_refused',
    'Android 10 and newer show the clipboard to the app in front alone, or it is empty. Paste it into a field (inputKey("PASTE")), and read that.',
  );
}

async function writeClipboard(session: HelperSession, text: string, signal: AbortSignal): Promise<void> {
  const content = Buffer.from(text).toString('base64');
  await session.post('appium/device/set_clipboard', { content, contentType: 'PLAINTEXT' }, signal);
}

/** Path of one finger across the screen, as W3C WebDriver actions. The move's duration is the swipe's. */
function swipeActions({ durationMs, ...way }: AgentCallParams<'input.swipe'>): unknown[] {
  return [finger('finger', way, { holdMs: 0, durationMs })];
}

function dragActions({ durationMs, ...way }: AgentCallParams<'input.drag'>): unknown[] {
  return [finger('finger', way, { holdMs: grabMs, durationMs })];
}

function fingersActions({ ways, durationMs }: AgentCallParams<'input.fingers'>): unknown[] {
  return ways.map((way, index) => finger(`finger${index}`, way, { holdMs: 0, durationMs }));
}

function finger(
  id: string,
  { fromX, fromY, toX, toY }: Way,
  { holdMs, durationMs }: { holdMs: number; durationMs: number },
): unknown {
  const move = (duration: number, x: number, y: number): unknown => ({
    type: 'pointerMove',
    duration,
    x,
    y,
    origin: 'viewport',
  });
  return {
    type: 'pointer',
    id,
    parameters: { pointerType: 'touch' },
    actions: [
      move(0, fromX, fromY),
      { type: 'pointerDown', button: 0 },
      ...(holdMs > 0 ? [{ type: 'pause', duration: holdMs }] : []),
      move(durationMs, toX, toY),
      { type: 'pointerUp', button: 0 },
    ],
  };
}

type Input = Pick<UiBackend, 'tap' | 'doubleTap' | 'longPress' | 'swipe' | 'drag' | 'pressKey'>;

/**
 * Sends input by the helper, and by the shell into an app where the helper took far too long. From Android 16 on,
 * UiAutomation waits before it injects until the animations of all windows have ended, and some apps have one that
 * never ends.
 */
function createQuickInput(
  helper: Input,
  shell: Input,
  { inputMs }: Pick<HostTimings, 'inputMs'>,
  appInFront: () => string,
): Input {
  let slowApp: string | undefined;
  const either = async (ownMs: number, act: (input: Input) => Promise<void>): Promise<void> => {
    if (slowApp === appInFront()) return await act(shell);
    slowApp = undefined;
    const began = performance.now();
    await act(helper);
    if (performance.now() - began > inputMs + ownMs) slowApp = appInFront();
  };
  return {
    tap: (point, signal) => either(0, (input) => input.tap(point, signal)),
    doubleTap: (point, signal) => either(0, (input) => input.doubleTap(point, signal)),
    longPress: (press, signal) => either(press.durationMs, (input) => input.longPress(press, signal)),
    swipe: (way, signal) => either(way.durationMs, (input) => input.swipe(way, signal)),
    drag: (way, signal) => either(way.durationMs, (input) => input.drag(way, signal)),
    pressKey: (code, signal) => either(0, (input) => input.pressKey(code, signal)),
  };
}

const windowsMs = 2000;
const restoreMs = 5000;

/** Web page without children, as the helper writes it. */
const emptyWebPage = /<android\.webkit\.WebView(?:\s+[\w:.-]+="[^"]*")*\s*\/>/;

const namesOf = (windows: readonly TouchWindow[]): string =>
  [...new Set(windows.map(({ packageName }) => packageName || 'a window without a name'))].join(', ');

interface TreeReading {
  readonly session: Pick<HelperSession, 'getText' | 'listWindows' | 'post'>;
  readonly renewals: Renewals;
  /** Whether the screen is on. A dark screen has no tree for any reader. */
  readonly isAwake: (signal: AbortSignal) => Promise<boolean>;
  /** Called when the helper has to be restarted. */
  readonly onRenewal: (renewal: HelperRenewal) => void;
}

/** Reads trees within their time limit, and renews the helper when it no longer gets what is on the screen. */
interface TreeReader {
  readActive(signal: AbortSignal, known?: SnapshotText): Promise<SnapshotText>;
  readAll(signal: AbortSignal): Promise<UiNode[]>;
}

function createTreeReader({ session, renewals, isAwake, onRenewal }: TreeReading): TreeReader {
  const { webPageMs } = renewals.timings;
  let emptySince: number | undefined;
  const renew = (why: string): void => {
    const renewal = renewals.begin(why);
    if (renewal === undefined) return;
    onRenewal(renewal);
    throw renewal;
  };
  const explainMissing = async (limitMs: number, signal: AbortSignal): Promise<DriverError> => {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(windowsMs)]);
    if (!(await isAwake(limited)))
      return new DriverError('screen_not_readable', "The screen can't be read while it is off.");
    const windows = namesOf((await session.listWindows(limited)) ?? []);
    renew(`The screen had no tree for ${limitMs / 1000} s, although these windows are there: ${windows}.`);
    return new DriverError(
      'screen_not_readable',
      `The screen gave no tree in ${limitMs / 1000} s, although these windows are there: ${windows}. A video or an animation may keep its app busy.`,
    );
  };
  /**
   * Reads a tree within its limit. The helper keeps trying for up to ten seconds, in which it reads no other tree but
   * executes all other calls.
   */
  const readInTime = async (signal: AbortSignal, known?: SnapshotText): Promise<SnapshotText> => {
    const limitMs = renewals.treeMs;
    const reading = session.getText('source', signal, known);
    const over = new AbortController();
    const first = await Promise.race([reading, pause(limitMs, over.signal)]).finally(() => over.abort());
    if (first !== undefined) return first;
    reading.then(
      () => renewals.noteSlowTree(),
      () => {},
    );
    throw await explainMissing(limitMs, signal);
  };
  const checkWebPages = ({ text }: SnapshotText): void => {
    if (!text.includes('<android.webkit.WebView') || !emptyWebPage.test(text)) {
      emptySince = undefined;
      return;
    }
    emptySince ??= performance.now();
    if (performance.now() - emptySince >= webPageMs)
      renew(`A web page on the screen had no nodes for ${webPageMs / 1000} s.`);
  };
  const setAllWindows = (enableMultiWindows: boolean, signal: AbortSignal): Promise<unknown> =>
    session.post('appium/settings', { settings: { enableMultiWindows } }, signal);
  return {
    async readActive(signal, known) {
      const told = await readInTime(signal, known);
      checkWebPages(told);
      return told;
    },
    /** Reads all windows. Otherwise the helper reads only the active window, which is faster. */
    async readAll(signal) {
      try {
        await setAllWindows(true, signal);
        return parseRoots((await readInTime(signal)).text);
      } finally {
        // Restores it also when the caller has given up: the next reading would otherwise contain all windows.
        await setAllWindows(false, AbortSignal.timeout(restoreMs));
      }
    },
  };
}
