import { isEnded } from '@phalanx/protocol';

import type { RunChange, RunStore } from './store.ts';

/** Collects what changes in one turn of the event loop, however many hosts it comes from, and stores it at once. */
export class RunChanges {
  readonly #store: RunStore;
  readonly #onStored: (changes: readonly RunChange[]) => void;
  #waiting = new Map<string, RunChange>();
  #flush: Promise<void> | undefined;

  /** `onStored` is told of what was stored, in the order in which it was stored. */
  constructor(store: RunStore, onStored: (changes: readonly RunChange[]) => void) {
    this.#store = store;
    this.#onStored = onStored;
  }

  /** Resolves when all of them are stored and told of. Of several changes of a run the last one counts, or its first end. */
  async add(changes: readonly RunChange[]): Promise<void> {
    if (changes.length === 0) return;
    for (const change of changes) this.#take(change);
    this.#flush ??= this.#flushAfterThisTurn();
    await this.#flush;
  }

  #take(change: RunChange): void {
    const earlier = this.#waiting.get(change.runId);
    if (earlier === undefined || !isEnded(earlier.status)) this.#waiting.set(change.runId, change);
  }

  async #flushAfterThisTurn(): Promise<void> {
    await new Promise(setImmediate);
    const changes = [...this.#waiting.values()];
    this.#waiting = new Map();
    this.#flush = undefined;
    await this.#store.apply(changes);
    this.#onStored(changes);
  }
}
