import { nodeWithText, nodesBelow, textsOf } from './node-search.ts';
import { createWaitStory } from './wait-story.ts';
import { WaitTimeoutError } from './wait-timeout-error.ts';

/** One reading of the screen is charged to a wait with at most this: a slow phone is not the caller's fault. */
const maxChargedReadMs = 1000;
const defaultTimeoutMs = 30_000;
const defaultIntervalMs = 250;
const defaultQuietMs = 1000;

export interface WaitParts {
  read: () => Promise<AndroidNode>;
  sleep: (durationMs: number) => Promise<void>;
  now: () => number;
}

/** What a wait is for: words for the error, the test, and a text that the error looks for neighbours of. */
interface Aim<T> {
  awaited: string;
  test: (screen: AndroidNode) => T | Promise<T>;
  near?: string;
  nearIds?: boolean;
}

export function createWaits(parts: WaitParts): AgentWaits {
  const until = <T>(aim: Aim<T>, options: WaitOptions | undefined): Promise<Truthy<T>> =>
    waitUntil(parts, aim, options ?? {});
  return {
    waitForText: (text, options) =>
      until(
        {
          awaited: `the text ${quoted(text)}`,
          test: (screen) => nodeWithText(screen, text),
          near: plain(text),
        },
        options,
      ),
    waitForTextGone: (text, options) =>
      until(
        {
          awaited: `the text ${quoted(text)} to go`,
          test: (screen) => nodeWithText(screen, text) === null,
          near: plain(text),
        },
        options,
      ).then(() => undefined),
    waitForId: (viewId, options) =>
      until(
        {
          awaited: `the id "${viewId}"`,
          test: (screen) => screen.findById(viewId),
          near: viewId,
          nearIds: true,
        },
        options,
      ),
    waitForApp: (packageName, options) =>
      until(
        { awaited: `the app ${packageName}`, test: (screen) => screen.packageName === packageName && screen },
        options,
      ),
    waitFor: (predicate, options) =>
      until({ awaited: options?.description ?? 'a condition', test: predicate }, options),
    waitForIdle: (options) => until(idleAim(parts, options?.quietMs ?? defaultQuietMs), options),
  };
}

async function waitUntil<T>(
  parts: WaitParts,
  aim: Aim<T>,
  { timeoutMs = defaultTimeoutMs, intervalMs = defaultIntervalMs }: WaitOptions,
): Promise<Truthy<T>> {
  const error = new WaitTimeoutError(); // Made first, so that its stack is the caller's.
  const story = createWaitStory(parts.now);
  let chargedMs = 0;

  for (let lookBeganAtMs = 0; ;) {
    lookBeganAtMs = chargedMs;
    const beganAt = parts.now();
    const screen = await parts.read().catch((reason: unknown) => story.readFailed(reason));
    chargedMs += Math.min(parts.now() - beganAt, maxChargedReadMs);
    const testedAt = parts.now();
    const result = screen && (story.saw(screen), await aim.test(screen));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the condition says it
    if (result) return result as Truthy<T>;
    chargedMs += parts.now() - testedAt;
    if (lookBeganAtMs >= timeoutMs) throw error.tell(story.end(aim));
    const pauseMs = Math.min(intervalMs, Math.max(0, timeoutMs - chargedMs));
    await parts.sleep(pauseMs);
    chargedMs += pauseMs;
  }
}

/** True when the screen has looked the same for `quietMs`. */
function idleAim({ now }: WaitParts, quietMs: number): Aim<AndroidNode | false> {
  let last = '';
  let since = 0;
  return {
    awaited: `the screen to stay the same for ${quietMs} ms`,
    test(screen) {
      const look = lookOf(screen);
      if (look !== last) since = now();
      last = look;
      return now() - since >= quietMs && screen;
    },
  };
}

/** Everything about a screen that a person would see change. */
function lookOf(screen: AndroidNode): string {
  return nodesBelow(screen)
    .map((node) => {
      const { left, top, right, bottom } = node.boundsInScreen;
      return [node.className, node.isChecked, left, top, right, bottom, ...textsOf(node)].join('|');
    })
    .join('\n');
}

const plain = (text: string | RegExp): string => (text instanceof RegExp ? text.source : String(text));
const quoted = (text: string | RegExp): string => (text instanceof RegExp ? String(text) : `"${text}"`);
