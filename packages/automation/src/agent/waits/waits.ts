import { collectAim, collectTimeoutMs, scrollAim } from '../nodes/scroll-aims.ts';
import { nodeWithText, lookOf } from '../nodes/node-search.ts';
import { searchOf } from '../nodes/android-node-filter.ts';
import { type Aim, defaultIntervalMs, type WaitParts, waitUntil } from './wait-until.ts';

const defaultQuietMs = 1000;

export function createWaits(parts: WaitParts): AgentWaits {
  const until = <T>(aim: Aim<T>, options: WaitOptions | undefined): Promise<Truthy<T>> =>
    waitUntil(parts, aim, options);
  /** Waits for a condition that only a change of the screen can meet. */
  const untilShown = <T>(aim: Aim<T>, options: WaitOptions | undefined): Promise<Truthy<T>> =>
    until({ ...aim, maxPauseMs: Infinity }, options);
  const untilFound = (
    target: string | RegExp | NodeConditions,
    options: WaitOptions | undefined,
  ): Promise<AndroidNode> => {
    const { findAll, ...words } = searchOf(target);
    return untilShown({ ...words, test: (screen) => findAll(screen)[0] }, options);
  };
  return {
    waitForText: untilFound,
    waitForNode: untilFound,
    waitForTextGone: (text, options) => {
      const { awaited, near } = searchOf(text);
      const test = (screen: AndroidNode): boolean => nodeWithText(screen, text) === null;
      return untilShown({ awaited: `${awaited} to go`, test, near }, options).then(() => undefined);
    },
    waitForId: (viewId, options) =>
      untilShown(
        {
          awaited: `the id "${viewId}"`,
          test: (screen) => screen.findById(viewId),
          near: () => [viewId],
          nearIds: true,
        },
        options,
      ),
    waitForApp: (packageName, options) =>
      untilShown(
        { awaited: `the app ${packageName}`, test: (screen) => screen.packageName === packageName && screen },
        options,
      ),
    waitFor: (predicate, options) =>
      until(
        {
          awaited: options?.description ?? 'a condition',
          test: predicate,
          // A predicate may depend on more than the screen.
          maxPauseMs: defaultIntervalMs,
        },
        options,
      ),
    waitForIdle: (options) => until(idleAim(parts, options?.quietMs ?? defaultQuietMs), options),
    collect: (readRow, options = {}) =>
      until(collectAim(parts, readRow, options), { timeoutMs: collectTimeoutMs, ...options }),
    scrollTo: (target, options = {}) => until(scrollAim(parts, target, options), options),
  };
}

/** Goal of an unchanged screen for `quietMs`. */
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
