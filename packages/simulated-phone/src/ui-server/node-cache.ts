import type { Screen } from '../screen/screen.ts';

/** The nodes that an accessibility client keeps until it is told of a change, or asked to forget them (AccessibilityCache.java). */
export class NodeCache {
  #kept: { readonly screen: Screen; readonly at: number } | undefined;

  /** The screen as the client sees it, which may be older by up to the interval at which apps report changes. */
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
