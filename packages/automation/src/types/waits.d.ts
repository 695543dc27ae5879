/**
 * Waits read the screen repeatedly until it shows the awaited text, node or app. When the time is up they
 * reject with a `WaitTimeoutError`, which tells what was seen instead: the nearest texts, and, for characters
 * that look alike, the code point of the one that differs, such as `U+00A0`. Texts are compared as
 * `AndroidNode` says.
 *
 * On phones that report changes of their screen, as those with the resident helper do, waits for a text, a
 * node, an id or an app read the screen after each change, and every few seconds at least. The predicate of
 * `waitFor` is tried after each change and after each pause.
 *
 * A slow phone is not charged to the wait: one reading of the screen counts as at most one second of
 * `timeoutMs`, and after the time is up the screen is read once more if the last reading had begun before.
 *
 * @example
 * await agent.actions.stopApp('com.android.settings');
 * await agent.actions.launchApp('com.android.settings');
 * const deadline = AbortSignal.timeout(60_000);
 * await agent.actions.waitForText('Bluetooth', { signal: deadline });
 * const about = await agent.actions.scrollTo('About phone', { signal: deadline });
 * await about.tap();
 * await agent.actions.waitForNode((f) => f.hasText('Serial number'), { signal: deadline });
 */
interface AgentWaits {
  /** Waits for the first node that meets the conditions, as `AndroidNode.filterOne` finds it. */
  waitForNode(conditions: NodeConditions, options?: WaitOptions): Promise<AndroidNode>;
  /**
   * Waits for a node with this text, as `AndroidNode.findTextOne` finds it: a node that only contains the text
   * counts as long as none equals it.
   */
  waitForText(text: string | RegExp, options?: WaitOptions): Promise<AndroidNode>;
  /** Waits until no node has this text any more. */
  waitForTextGone(text: string | RegExp, options?: WaitOptions): Promise<void>;
  /** Waits for a node with this id, as `AndroidNode.findById` finds it. */
  waitForId(viewId: string, options?: WaitOptions): Promise<AndroidNode>;
  /** Waits until an app is in front. */
  waitForApp(packageName: string, options?: WaitOptions): Promise<AndroidNode>;
  /** Waits until `predicate` returns a truthy value for the screen, and returns that value. */
  waitFor<T>(
    predicate: (screen: AndroidNode) => T | Promise<T>,
    options?: WaitOptions & { /** Description for the error of what is awaited. */ description?: string },
  ): Promise<Truthy<T>>;
  /** Waits until the screen has not changed for `quietMs` (default 1,000), and returns it. */
  waitForIdle(options?: WaitOptions & { quietMs?: number }): Promise<AndroidNode>;
  /**
   * Scrolls until a node with this text, or one that meets the conditions, can be touched, and returns it when
   * the list has come to rest: `await (await agent.actions.scrollTo('About phone')).tap()`. Scrolls nothing if
   * the node is in view. At the end of the list, rejects at once with the `WaitTimeoutError`, which says so.
   */
  scrollTo(target: string | RegExp | NodeConditions, options?: ScrollOptions): Promise<AndroidNode>;
  /**
   * Reads a list from the rows that are shown now to its end: calls `readRow` for each row that is whole on the
   * screen, scrolls on, and returns the values in the order of the list, without null and undefined. Views are
   * joined at equal values, so a value should identify its row. Default of `timeoutMs`: 120,000.
   *
   * @example
   * await agent.actions.stopApp('com.android.settings');
   * await agent.actions.launchApp('com.android.settings');
   * const titles = await agent.actions.collect((row) => row.findById('title')?.text);
   * console.log(titles.length, titles.at(-1));
   */
  collect<T>(readRow: (row: AndroidNode) => T | null | undefined, options?: ScrollOptions): Promise<T[]>;
}

type Truthy<T> = Exclude<T, false | 0 | 0n | '' | null | undefined>;

interface WaitOptions {
  /** Maximum wait in milliseconds. Default 30,000; with 0 the screen is read exactly once. */
  timeoutMs?: number;
  /** Pause between two readings of the screen, in milliseconds. Default 250, or until the phone reports a change. */
  intervalMs?: number;
  /**
   * Ends the wait at once when it aborts: the wait rejects with the signal's `reason`. With
   * `AbortSignal.timeout(ms)`, a deadline that several waits can share, it rejects with the `WaitTimeoutError`
   * and the screens that were seen.
   */
  signal?: AbortSignal | null;
}

interface ScrollOptions extends WaitOptions {
  /** Direction in which the node lies, seen from the content shown now. Default `down`: the content moves up. */
  direction?: 'down' | 'up' | 'left' | 'right';
  /** The node to scroll: the first node that meets these conditions. Default: the largest scrollable node, else the screen. */
  within?: NodeConditions;
}

/** The error of a wait that ended in vain. Its message tells the story of the wait. */
declare class WaitTimeoutError extends Error {
  private constructor();
  /** A description of what was awaited. */
  readonly awaited: string;
  readonly waitedMs: number;
  /** Number of readings of the screen. */
  readonly reads: number;
  /** The screens that were seen, changes only, oldest first. */
  readonly seen: readonly { afterMs: number; packageName: string; title: string }[];
  /**
   * Texts of the last screen that come nearest to the awaited one, with the characters of the phone; up to
   * eight texts of at most 80 letters.
   */
  readonly nearest: readonly string[];
}
