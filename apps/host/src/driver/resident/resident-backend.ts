import { hash } from 'node:crypto';
import type { AgentCallParams, UiNode } from '@phalanx/protocol';
import { findNode } from '../find-node.ts';
import { DriverError, unreadableTree } from '../driver-error.ts';
import type { Renewals } from '../renewals.ts';
import { withTimeLimit } from '../../time/time-limit.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import type { ParsedTree } from '../tree/parse-tree.ts';
import type { ChangeNotifier, FieldLook, ScreenSnapshot, UiBackend } from '../ui-backend.ts';
import { grabMs } from '../uiautomator2/uiautomator2-backend.ts';
import { isDeadUiAutomation } from '../uiautomator2/helper-session.ts';
import { decodeTrees, decodeWindows, type DecodedTrees, inflateTrees } from './decode-tree.ts';
import { requestKind, watchKind, type HelperLink, startHelperLink } from './helper-link.ts';

const nothing = Buffer.alloc(0);
const keyWakeUp = 224;
/** Gap between Android's limits of a double tap, 40 and 300 ms. */
const doubleTapGapMs = 100;

/**
 * Starts the resident helper on the phone and connects to it. Rejects with DriverError when the helper is unavailable.
 */
export async function createResidentBackend(
  shell: PhoneShell,
  launch: { signal: AbortSignal; onLaunched: () => void },
  renewals: Renewals,
): Promise<UiBackend> {
  const link = await startHelperLink(shell, launch);
  const ask = askerOf(link);
  const { lookedAt, ...screen } = createScreenReader(ask, link, renewals);
  return {
    source: 'resident',
    failed: link.failed,
    ...screen,
    ...inputOf(ask, shell),
    ...textOf(ask, screen),
    changes: changesOf(ask, link, lookedAt),
    remark: () => renewals.remark,
    takeScreenshot: (signal) => ask(requestKind.picture, Buffer.alloc(5), signal),
    probe: async (signal) => void (await ask(requestKind.hello, nothing, signal)),
    // The helper acquires UiAutomation on demand, so there is nothing to probe.
    probeScreen: async () => {},
    close: () => link.close(),
  };
}

function changesOf(
  ask: Ask,
  { changes, failed }: HelperLink,
  lookedAt: () => ScreenSnapshot | undefined,
): ChangeNotifier {
  let isWatched = false;
  /** Number of waits for which the phone polls its screen. */
  let lookers = 0;
  const order = (kind: number): void =>
    void ask(requestKind.watch, Buffer.from([kind]), failed).catch(() => {});
  return {
    get count() {
      return changes.count;
    },
    async watch(signal) {
      if (isWatched) return false;
      await ask(requestKind.watch, Buffer.from([watchKind.tell]), signal);
      return (isWatched = true);
    },
    look() {
      lookers += 1;
      if (lookers === 1) order(watchKind.tellAndLook);
      return () => {
        lookers -= 1;
        if (lookers === 0) order(watchKind.tell);
      };
    },
    get lookedAt() {
      return lookedAt();
    },
    moreThan: (count, waitMs, signal) => changes.moreThan(count, waitMs, signal),
  };
}

type Ask = (kind: number, payload: Buffer, signal: AbortSignal) => Promise<Buffer>;

/** Fails the link when Android has ended the helper's UiAutomation connection, which only a new process repairs. */
function askerOf(link: HelperLink): Ask {
  return async (kind, payload, signal) => {
    try {
      return (await link.ask(kind, payload, signal)).payload;
    } catch (error) {
      if (error instanceof DriverError && isDeadUiAutomation({ message: error.message, trace: '' }))
        link.fail(new DriverError('ui_helper_failed', error.message, error));
      throw error;
    }
  };
}

class ResidentScreen implements ScreenSnapshot {
  readonly bytes: Buffer;

  constructor(payload: Buffer) {
    this.bytes = inflateTrees(payload);
  }

  get digest(): string {
    return hash('sha256', this.bytes, 'base64');
  }

  decoded(): DecodedTrees {
    return decodeTrees(this.bytes);
  }

  /** Decodes a new tree at each call. */
  tree(): ParsedTree {
    const { roots, rotation, announced } = this.decoded();
    // The host asks for one window: others would have bounds of another display.
    const [root] = roots;
    if (root === undefined) throw unreadableTree('it is empty');
    return { root, packageName: root.packageName, rotation, announced };
  }
}

type ScreenReader = Pick<UiBackend, 'readSource' | 'readWindows' | 'readTouchWindows'>;

interface KeptScreen {
  /** Same object when the helper has reported the same tree again. */
  readonly payload: Buffer;
  readonly screen: ResidentScreen;
  readonly isEmptyPage: boolean;
}

const webPage = 'android.webkit.WebView';

function createScreenReader(
  ask: Ask,
  link: HelperLink,
  renewals: Renewals,
): ScreenReader & { lookedAt: () => ScreenSnapshot | undefined } {
  const { webPageMs, slowTreeMs } = renewals.timings;
  let last: KeptScreen | undefined;
  let emptySince: number | undefined;
  const readOnce = async (allWindows: boolean, signal: AbortSignal): Promise<Buffer> => {
    const onTimeout = (): DriverError => {
      const sentence = `The resident helper gave no tree in ${slowTreeMs / 1000} s.`;
      const failure = new DriverError('ui_helper_failed', sentence);
      link.fail(failure);
      return failure;
    };
    return await withTimeLimit({ timeoutMs: slowTreeMs, signals: [signal], onTimeout }, (limit) =>
      ask(requestKind.read, Buffer.from([allWindows ? 1 : 0, 0]), limit),
    );
  };
  /**
   * Releases UiAutomation so that the helper acquires it again, which costs some milliseconds; at most once a minute.
   */
  const renew = async (why: string, signal: AbortSignal): Promise<boolean> => {
    if (renewals.begin(why) === undefined) return false;
    await ask(requestKind.release, nothing, signal);
    return true;
  };
  const keep = (payload: Buffer): KeptScreen => {
    if (last?.payload === payload) return last;
    const screen = new ResidentScreen(payload);
    const isEmptyPage =
      screen.bytes.includes(webPage) &&
      screen.decoded().roots.some((root) => findNode(root, isEmptyWebPage) !== undefined);
    return (last = { payload, screen, isEmptyPage });
  };
  const readActive = async (signal: AbortSignal): Promise<Buffer> => {
    try {
      return await readOnce(false, signal);
    } catch (error) {
      const isRootless = error instanceof DriverError && error.code === 'screen_not_readable';
      if (!isRootless || !(await renew('The screen had no tree.', signal))) throw error;
      return await readOnce(false, signal);
    }
  };
  return {
    async readSource(signal) {
      const { screen, isEmptyPage } = keep(await readActive(signal));
      emptySince = isEmptyPage ? (emptySince ?? performance.now()) : undefined;
      const isOverdue = emptySince !== undefined && performance.now() - emptySince >= webPageMs;
      const why = `A web page on the screen had no nodes for ${webPageMs / 1000} s.`;
      if (!isOverdue || !(await renew(why, signal))) return screen;
      return keep(await readOnce(false, signal)).screen;
    },
    readWindows: async (signal) => decodeTrees(inflateTrees(await readOnce(true, signal))).roots,
    readTouchWindows: async (signal) =>
      decodeWindows(inflateTrees(await ask(requestKind.windows, nothing, signal))),
    // An empty web page is renewed by a reading alone.
    lookedAt: () => (last?.isEmptyPage === true ? undefined : last?.screen),
  };
}

function isEmptyWebPage({ className, children }: UiNode): boolean {
  return className === webPage && children.length === 0;
}

type Input = Pick<
  UiBackend,
  | 'tap'
  | 'doubleTap'
  | 'longPress'
  | 'swipe'
  | 'drag'
  | 'moveFingers'
  | 'pressKey'
  | 'openNotifications'
  | 'keepAwake'
>;

type Way = AgentCallParams<'input.fingers'>['ways'][number];

interface Times {
  readonly delayMs?: number;
  readonly holdMs?: number;
  readonly durationMs?: number;
}

function inputOf(ask: Ask, shell: PhoneShell): Input {
  const gesture = async (ways: readonly Way[], times: Times, signal: AbortSignal): Promise<void> =>
    void (await ask(requestKind.gesture, gesturePayload(ways, times), signal));
  const tap = ({ x, y }: { x: number; y: number }, times: Times, signal: AbortSignal): Promise<void> =>
    gesture([{ fromX: x, fromY: y, toX: x, toY: y }], times, signal);
  const pressKey = async (keyCode: number, signal: AbortSignal): Promise<void> => {
    const payload = Buffer.alloc(8);
    payload.writeInt32BE(keyCode, 0);
    await ask(requestKind.key, payload, signal);
  };
  return {
    tap: (point, signal) => tap(point, {}, signal),
    doubleTap: async (point, signal) =>
      void (await Promise.all([tap(point, {}, signal), tap(point, { delayMs: doubleTapGapMs }, signal)])),
    longPress: ({ durationMs, ...point }, signal) => tap(point, { holdMs: durationMs }, signal),
    swipe: ({ durationMs, ...way }, signal) => gesture([way], { durationMs }, signal),
    drag: ({ durationMs, ...way }, signal) => gesture([way], { holdMs: grabMs, durationMs }, signal),
    moveFingers: ({ ways, durationMs }, signal) => gesture(ways, { durationMs }, signal),
    pressKey,
    openNotifications: async (signal) => void (await shell.run('cmd statusbar expand-notifications', signal)),
    // The key counts as use, and is pressed again before the time is over.
    keepAwake: (forMs, signal) => (forMs > 0 ? pressKey(keyWakeUp, signal) : Promise.resolve()),
  };
}

function gesturePayload(ways: readonly Way[], { delayMs = 0, holdMs = 0, durationMs = 0 }: Times): Buffer {
  const numbers = (...values: number[]): Buffer => {
    const bytes = Buffer.alloc(4 * values.length);
    for (const [at, value] of values.entries()) bytes.writeInt32BE(Math.round(value), 4 * at);
    return bytes;
  };
  const places = ways.flatMap(({ fromX, fromY, toX, toY }) => [fromX, fromY, toX, toY]);
  return Buffer.concat([
    numbers(delayMs, holdMs, durationMs),
    Buffer.from([ways.length]),
    numbers(...places),
  ]);
}

type Texts = Pick<UiBackend, 'typeText' | 'clearText' | 'readField' | 'readClipboard' | 'writeClipboard'>;

function textOf(ask: Ask, { readSource }: ScreenReader): Texts {
  const readField = async (signal: AbortSignal): Promise<FieldLook> => {
    const told = (await ask(requestKind.field, nothing, signal)).toString();
    return { isPassword: told.startsWith('1'), shown: told.slice(1) };
  };
  const set = async (text: string, signal: AbortSignal): Promise<void> =>
    void (await ask(requestKind.setText, Buffer.from(text), signal));
  return {
    async typeText(text, memory, signal) {
      const before = await readField(signal);
      const { isPassword, shown } = before;
      if (!isPassword) {
        await set(shown + text, signal);
        return before;
      }
      const id = idOfPasswordField((await readSource(signal)).tree().root);
      const whole = memory.textIn({ id, shown }) + text;
      await set(whole, signal);
      memory.remember({ id, shown }, whole);
      return before;
    },
    readField,
    clearText: (signal) => set('', signal),
    readClipboard: async (signal) => (await ask(requestKind.readClipboard, nothing, signal)).toString(),
    writeClipboard: async (text, signal) =>
      void (await ask(requestKind.writeClipboard, Buffer.from(text), signal)),
  };
}

/**
 * Returns the ID of the focused password field from the tree: the helper reports what the field shows, but not which
 * field it is.
 */
function idOfPasswordField(root: UiNode): string {
  const field = findNode(root, ({ focused, password }) => focused && password);
  return JSON.stringify([field?.packageName, field?.viewId]);
}
