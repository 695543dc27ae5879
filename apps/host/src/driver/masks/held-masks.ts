import type { ScreenMask } from '@phalanx/protocol';

/** What of a phone's screen must not be seen now: the masks of all runs on it. */
export class HeldMasks {
  readonly #held = new Set<readonly ScreenMask[]>();

  #heldOnce = 0;

  /** How often something began to be hidden: another count than before means that something was hidden in between. */
  get heldOnce(): number {
    return this.#heldOnce;
  }

  list(): readonly ScreenMask[] {
    return [...this.#held].flat();
  }

  /** Returns how to let go. */
  hold(masks: readonly ScreenMask[]): () => void {
    const held = [...masks];
    if (held.length > 0) this.#heldOnce += 1;
    this.#held.add(held);
    return () => void this.#held.delete(held);
  }
}
