import type { Screen } from '../screen/screen.ts';

/** The nodes that an accessibility client keeps until it is told of a change, or asked to forget them (AccessibilityCache.java). */
export class NodeCache {
  #kept: { readonly screen: Screen; readonly at: number } | undefined;

  /** What the client sees of that screen when apps tell of changes so often. */
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
