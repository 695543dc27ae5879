import { setImmediate as nextTurn } from 'node:timers/promises';

import type { FaultMonitor } from './faults/fault-monitor.ts';

interface Options<Key> {
  work: (keys: readonly Key[]) => Promise<void>;
  faults: FaultMonitor;
  /** Log message when `work` fails. */
  failureMessage: string;
}

/** Batches work by key. A batch has all keys that were added while the previous one ran. */
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

  /** Resolves when no batch is running. */
  async end(): Promise<void> {
    await this.#working;
  }

  async #workAll(): Promise<void> {
    const { work, faults, failureMessage } = this.#options;
    while (this.#wanted.size > 0) {
      // Keys that are added in the same turn of the event loop join the batch.
      await nextTurn();
      const keys = [...this.#wanted];
      this.#wanted.clear();
      await work(keys).catch((error: unknown) => faults.report(error, failureMessage));
    }
    this.#working = undefined;
  }
}
