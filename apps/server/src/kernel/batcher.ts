import { setImmediate as endOfTurn } from 'node:timers/promises';

import type { FaultMonitor } from './faults/fault-monitor.ts';

interface Options<Key> {
  work: (keys: readonly Key[]) => Promise<void>;
  faults: FaultMonitor;
  /** What is said when it fails. */
  says: string;
}

/** Work that many ask for, each for a few keys: one lot after the other, each with all that was asked for meanwhile. */
export class Batcher<Key> {
  readonly #options: Options<Key>;
  readonly #wanted = new Set<Key>();
  #working: Promise<void> | undefined;

  constructor(options: Options<Key>) {
    this.#options = options;
  }

  add(keys: Iterable<Key>): void {
    for (const key of keys) this.#wanted.add(key);
    if (this.#wanted.size > 0) this.#working ??= this.#workAll();
  }

  /** Resolves when nothing is under way. */
  async end(): Promise<void> {
    await this.#working;
  }

  async #workAll(): Promise<void> {
    const { work, faults, says } = this.#options;
    while (this.#wanted.size > 0) {
      // What else this turn of the event loop brings joins.
      await endOfTurn();
      const keys = [...this.#wanted];
      this.#wanted.clear();
      await work(keys).catch((error: unknown) => faults.report(error, says));
    }
    this.#working = undefined;
  }
}
