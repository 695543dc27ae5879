import type { TouchReach } from '@phalanx/protocol';
import { nodesBelow, textsOf } from '../nodes/node-search.ts';
import { nearestOf } from '../../texts/nearest-texts.ts';
import { createTextRank } from '../../texts/text-rank.ts';
import { differenceOf } from '../../texts/text-difference.ts';
import { findRemark } from '../nodes/tree-ids.ts';
import { WaitTimeoutError, type WaitReport } from './wait-timeout-error.ts';

/**
 * Maximum time in ms that one reading of the screen counts towards the timeout: a slow phone is not the caller's
 * fault.
 */
const maxChargedReadMs = 1000;
const defaultTimeoutMs = 30_000;
export const defaultIntervalMs = 250;

/** Maximum number of screen changes reported; more are reduced to the first and the last ones. */
const maxSeen = 12;
const maxTitleLength = 60;

export interface WaitParts {
  read: (options: ActionOptions) => Promise<AndroidNode>;
  swipe: AgentActions['swipe'];
  /** Finds the point at which a touch reaches a node of the latest screen. */
  reach: (node: AndroidNode, signal: AbortSignal | null) => Promise<TouchReach>;
  /**
   * Waits until the screen changes or the time is over. `untold` means that the phone can't report changes, and that
   * nothing was waited for.
   */
  untilChange: (screen: AndroidNode, order: ChangeOrder) => Promise<'changed' | 'same' | 'untold'>;
  sleep: (durationMs: number) => Promise<void>;
  now: () => number;
}

interface ChangeOrder {
  /** Minimum time in ms between two readings of the phone. */
  readonly restMs: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | null;
}

/** Goal of a wait: its description, its test, and the texts whose nearest matches the error shows. */
export interface Aim<T> {
  readonly awaited: string;
  test: (screen: AndroidNode) => T | Promise<T>;
  readonly near?: () => readonly (string | RegExp)[];
  readonly nearIds?: boolean;
  /** Maximum pause in ms between readings if a reported screen change can end it; undefined if changes can't. */
  readonly maxPauseMs?: number;
  /** Whether further readings are pointless. */
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
    : untilAborted(signal, look, (reason) => (isTimeout(reason) ? error.describe(story.end(aim)) : reason));
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
    // An aborted wait must not touch the phone any more.
    signal?.throwIfAborted();
    chargedMs += Math.min(parts.now() - beganAt, maxChargedReadMs);
    const testedAt = parts.now();
    const result = screen && (story.saw(screen), await aim.test(screen));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the condition says it
    if (result) return result as Truthy<T>;
    chargedMs += parts.now() - testedAt;
    if (aim.isHopeless === true || lookBeganAtMs >= timeoutMs) throw error.describe(story.end(aim));
    chargedMs += await rest(screen, Math.max(0, timeoutMs - chargedMs));
    signal?.throwIfAborted();
  }
}

const maxOrderMs = 60_000;

/**
 * Creates the pauses between readings; each returns its length in ms. A reported change ends a pause, if changes
 * matter and the caller has not set an interval. Consecutive changes end at most one pause per default interval.
 */
function createPauses(
  { untilChange, sleep, now }: WaitParts,
  { maxPauseMs }: Pick<Aim<unknown>, 'maxPauseMs'>,
  { intervalMs, signal }: { intervalMs: number | undefined; signal: AbortSignal | null },
): (screen: AndroidNode | undefined, leftMs: number) => Promise<number> {
  let isNotified = intervalMs === undefined && maxPauseMs !== undefined;
  let restMs = 0;
  return async (screen, leftMs) => {
    if (isNotified && screen !== undefined && leftMs > 0) {
      const timeoutMs = Math.ceil(Math.min(maxPauseMs ?? 0, leftMs, maxOrderMs));
      const beganAt = now();
      const outcome = await untilChange(screen, { restMs, timeoutMs, signal });
      signal?.throwIfAborted();
      restMs = outcome === 'changed' ? defaultIntervalMs : 0;
      if (outcome !== 'untold') return Math.min(now() - beganAt, timeoutMs);
      isNotified = false;
    }
    const pauseMs = Math.min(intervalMs ?? defaultIntervalMs, leftMs);
    await sleep(pauseMs);
    return pauseMs;
  };
}

/** Rejects immediately when the signal aborts, regardless of work in flight. */
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

/** Whether the signal was aborted by `AbortSignal.timeout`, a deadline that several waits may share. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

/** Records what a wait sees. */
function createWaitStory(now: () => number) {
  const beganAt = now();
  const seen: { afterMs: number; packageName: string; title: string }[] = [];
  let reads = 0;
  let failedReads = 0;
  let lastFailure: Error | undefined;
  let lastScreen: AndroidNode | undefined;
  let remark: string | undefined;

  return {
    saw(screen: AndroidNode): void {
      reads += 1;
      lastScreen = screen;
      remark = findRemark(screen) ?? remark;
      const { packageName } = screen;
      const title = titleOf(screen);
      const last = seen.at(-1);
      if (last?.packageName === packageName && last.title === title) return;
      if (seen.length === maxSeen) seen.splice(maxSeen / 2, 1);
      seen.push({ afterMs: now() - beganAt, packageName, title });
    },
    readFailed(error: unknown): undefined {
      reads += 1;
      failedReads += 1;
      lastFailure = error instanceof Error ? error : new Error(String(error));
    },
    end({ awaited, near, nearIds }: Pick<Aim<unknown>, 'awaited' | 'near' | 'nearIds'>): WaitReport {
      const words = lastScreen === undefined ? [] : wordsOf(lastScreen, nearIds === true);
      const wanted = lastScreen === undefined ? undefined : missing(near?.() ?? [], words);
      const waitedMs = now() - beganAt;
      const nearest = nearestOf(words, wanted instanceof RegExp ? wanted.source : wanted);
      return {
        awaited,
        waitedMs,
        reads,
        failedReads,
        lastFailure,
        seen,
        remark,
        nearest,
        difference: wanted === undefined ? undefined : differenceAmong(words, wanted, nearest),
      };
    },
  };
}

/** Returns the first text that no node has, which is the reason why the wait failed. */
function missing(
  wanted: readonly (string | RegExp)[],
  words: readonly string[],
): string | RegExp | undefined {
  const isThere = (one: string | RegExp): boolean => {
    if (one instanceof RegExp) return words.some((word) => word.search(one) >= 0);
    const rankOf = createTextRank(one);
    return words.some((word) => rankOf(word) !== undefined);
  };
  return wanted.find((one) => !isThere(one)) ?? wanted[0];
}

/**
 * Returns an invisible difference from the wanted text. A regular expression is compared with all texts, because the
 * nearest texts to its source may not include its match.
 */
const differenceAmong = (
  words: readonly string[],
  wanted: string | RegExp,
  nearest: readonly string[],
): string | undefined =>
  (wanted instanceof RegExp ? words : nearest)
    .map((word) => differenceOf(wanted, word))
    .find((difference) => difference !== undefined);

/** Returns a title for the screen: its pane title, or else its first text. */
function titleOf(screen: AndroidNode): string {
  const nodes = nodesBelow(screen);
  const title = nodes.find(({ paneTitle }) => paneTitle)?.paneTitle ?? nodes.flatMap(textsOf)[0] ?? '';
  return title.length > maxTitleLength ? `${title.slice(0, maxTitleLength)}…` : title;
}

function wordsOf(screen: AndroidNode, ids: boolean): string[] {
  const nodes = nodesBelow(screen);
  return ids ? nodes.flatMap(({ viewId }) => viewId ?? []) : nodes.flatMap(textsOf);
}
