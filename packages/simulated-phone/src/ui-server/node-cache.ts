import type { Screen } from '../screen/screen.ts';

/**
 * Nodes that an accessibility client caches until it is notified of a change or told to clear them
 * (AccessibilityCache.java).
 */
export class NodeCache {
  #kept: { readonly screen: Screen; readonly at: number } | undefined;

  /**
   * Returns the screen as the client sees it, which may be stale by up to the interval at which apps report changes.
   */
  look(screen: Screen, eventIntervalMs: number): Screen {
    if (this.#kept !== undefined && performance.now() - this.#kept.at < eventIntervalMs)
      return this.#kept.screen;
    this.#kept = { screen, at: performance.now() };
    return screen;
  }

  clear(): void {
    this.#kept = undefined;
  }
}
