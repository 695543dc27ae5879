import type { ScreenMask } from '@phalanx/protocol';

/** What of a phone's screen must not be seen now: the masks of all runs on it. */
export class HeldMasks {
  readonly #held = new Set<readonly ScreenMask[]>();

  list(): readonly ScreenMask[] {
    return [...this.#held].flat();
  }

  /** Returns how to let go. */
  hold(masks: readonly ScreenMask[]): () => void {
    const held = [...masks];
    this.#held.add(held);
    return () => void this.#held.delete(held);
  }
}
