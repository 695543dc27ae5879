import { createWaitStory } from './wait-story.ts';
import { WaitTimeoutError } from './wait-timeout-error.ts';

/** One reading of the screen is charged to a wait with at most this: a slow phone is not the caller's fault. */
const maxChargedReadMs = 1000;
const defaultTimeoutMs = 30_000;
const defaultIntervalMs = 250;

export interface WaitParts {
  read: (options: ActionOptions) => Promise<AndroidNode>;
  swipe: AgentActions['swipe'];
  sleep: (durationMs: number) => Promise<void>;
  now: () => number;
}

/** What a wait is for: words for the error, the test, and a text that the error looks for neighbours of. */
export interface Aim<T> {
  readonly awaited: string;
  test: (screen: AndroidNode) => T | Promise<T>;
  readonly near?: string | undefined;
  readonly nearIds?: boolean;
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
  { timeoutMs = defaultTimeoutMs, intervalMs = defaultIntervalMs, signal }: WaitOptions,
  { error, story }: { error: WaitTimeoutError; story: Story },
): Promise<Truthy<T>> {
  let chargedMs = 0;
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
    const pauseMs = Math.min(intervalMs, Math.max(0, timeoutMs - chargedMs));
    await parts.sleep(pauseMs);
    chargedMs += pauseMs;
  }
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
