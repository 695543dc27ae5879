import { createWaitStory } from './wait-story.ts';
import { WaitTimeoutError } from './wait-timeout-error.ts';

/** One reading of the screen is charged to a wait with at most this: a slow phone is not the caller's fault. */
const maxChargedReadMs = 1000;
const defaultTimeoutMs = 30_000;
export const defaultIntervalMs = 250;

export interface WaitParts {
  read: (options: ActionOptions) => Promise<AndroidNode>;
  swipe: AgentActions['swipe'];
  /** Waits until the phone shows another screen, or the time is over. `untold`: the phone does not tell, and nothing was waited for. */
  untilChange: (screen: AndroidNode, order: ChangeOrder) => Promise<'changed' | 'same' | 'untold'>;
  sleep: (durationMs: number) => Promise<void>;
  now: () => number;
}

export interface ChangeOrder {
  /** The phone may be looked at again so long after the last time, at the earliest. */
  readonly restMs: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | null;
}

/** What a wait is for: words for the error, the test, and a text that the error looks for neighbours of. */
export interface Aim<T> {
  readonly awaited: string;
  test: (screen: AndroidNode) => T | Promise<T>;
  readonly near?: string | undefined;
  readonly nearIds?: boolean;
  /** Set where the phone's word that its screen has changed may end a pause: how long a pause may be without it. */
  readonly longestPauseMs?: number;
  /** Looking on would be in vain. */
  readonly isHopeless?: boolean;
}

type Story = ReturnType<typeof createWaitStory>;

export function waitUntil<T>(parts: WaitParts, aim: Aim<T>, options: WaitOptions = {}): Promise<Truthy<T>> {
  const error = new WaitTimeoutError(); // Made first, so that its stack is the caller's.
  const story = createWaitStory(parts.now);
  const { signal } = options;
  const look = (): Promise<Truthy<T>> => lookUntil(parts, aim, options, { error, story });
  return signal === undefined || signal === null
    ? look()
    : untilAborted(signal, look, (reason) => (isTimeout(reason) ? error.tell(story.end(aim)) : reason));
}

async function lookUntil<T>(
  parts: WaitParts,
  aim: Aim<T>,
  { timeoutMs = defaultTimeoutMs, intervalMs, signal }: WaitOptions,
  { error, story }: { error: WaitTimeoutError; story: Story },
): Promise<Truthy<T>> {
  let chargedMs = 0;
  const rest = createPauses(parts, aim, { intervalMs, signal: signal ?? null });
  for (let lookBeganAtMs = 0; ;) {
    lookBeganAtMs = chargedMs;
    const beganAt = parts.now();
    const screen = await parts
      .read({ signal: signal ?? null })
      .catch((reason: unknown) => story.readFailed(reason));
    // Whoever aborts a wait wants nothing more done to the phone either.
    signal?.throwIfAborted();
    chargedMs += Math.min(parts.now() - beganAt, maxChargedReadMs);
    const testedAt = parts.now();
    const result = screen && (story.saw(screen), await aim.test(screen));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the condition says it
    if (result) return result as Truthy<T>;
    chargedMs += parts.now() - testedAt;
    if (aim.isHopeless === true || lookBeganAtMs >= timeoutMs) throw error.tell(story.end(aim));
    chargedMs += await rest(screen, Math.max(0, timeoutMs - chargedMs));
    signal?.throwIfAborted();
  }
}

const longestOrderMs = 60_000;

/**
 * The pauses between two looks; each gives how long it was. They end when the phone tells of a change where that can matter, unless the
 * caller has said how long they are to be. Changes one after the other are noticed once in each usual pause.
 */
function createPauses(
  { untilChange, sleep, now }: WaitParts,
  { longestPauseMs }: Pick<Aim<unknown>, 'longestPauseMs'>,
  { intervalMs, signal }: { intervalMs: number | undefined; signal: AbortSignal | null },
): (screen: AndroidNode | undefined, leftMs: number) => Promise<number> {
  let isTold = intervalMs === undefined && longestPauseMs !== undefined;
  let restMs = 0;
  return async (screen, leftMs) => {
    if (isTold && screen !== undefined && leftMs > 0) {
      const timeoutMs = Math.ceil(Math.min(longestPauseMs ?? 0, leftMs, longestOrderMs));
      const beganAt = now();
      const told = await untilChange(screen, { restMs, timeoutMs, signal });
      signal?.throwIfAborted();
      restMs = told === 'changed' ? defaultIntervalMs : 0;
      if (told !== 'untold') return Math.min(now() - beganAt, timeoutMs);
      isTold = false;
    }
    const pauseMs = Math.min(intervalMs ?? defaultIntervalMs, leftMs);
    await sleep(pauseMs);
    return pauseMs;
  };
}

/** Rejects at once when the signal aborts, whatever is still under way. */
async function untilAborted<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  explain: (reason: unknown) => unknown,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(explain(signal.reason));
  signal.addEventListener('abort', abort);
  try {
    if (signal.aborted) throw explain(signal.reason);
    return await Promise.race([work(), promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** What `AbortSignal.timeout` aborts with: a deadline that several waits may share. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
