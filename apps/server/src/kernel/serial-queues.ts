import { SerialQueue } from './serial-queue.ts';

/** Keeps a serial queue for each key, as long as it has work. */
export class SerialQueues {
  readonly #queues = new Map<string, { queue: SerialQueue; works: number }>();

  /** Number of queues that have work. */
  get size(): number {
    return this.#queues.size;
  }

  /** Runs `work` after all earlier work of the key has ended. Resolves or rejects as `work` does. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const entry = this.#queues.get(key) ?? { queue: new SerialQueue(), works: 0 };
    this.#queues.set(key, entry);
    entry.works += 1;
    try {
      return await entry.queue.run(work);
    } finally {
      entry.works -= 1;
      if (entry.works === 0) this.#queues.delete(key);
    }
  }
}
