import type { Limits } from '../../limits/limits.ts';
import type { KeptBytesStore } from './kept-bytes-store.ts';
import type { KeptLogs } from './kept-logs.ts';

interface Options {
  kept: KeptLogs;
  bytes: KeptBytesStore;
  limits: Limits;
  /** What the kept logs of the user take. */
  used: (userId: string) => Promise<number>;
}

const lookedAtOnce = 100;

/** Holds the kept logs of each user to what they may take: the logs of the oldest runs make room for new ones. */
export class KeptQuota {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
    options.limits.show('kept_log_bytes', options.used);
  }

  /** To be told of runs whose kept logs have grown. */
  async count(runIds: Iterable<string>): Promise<void> {
    const { kept, bytes } = this.#options;
    const sizes = new Map<string, number>();
    for (const runId of runIds) sizes.set(runId, (await kept.stateOf(runId)).sizeBytes);
    for (const userId of await bytes.save(sizes)) await this.#makeRoom(userId);
  }

  async #makeRoom(userId: string): Promise<void> {
    const { kept, bytes, limits, used } = this.#options;
    for (;;) {
      const excess = (await used(userId)) - limits.most('kept_log_bytes');
      if (excess <= 0) return;
      const oldest = upTo(await bytes.listOldest(userId, lookedAtOnce), excess);
      if (oldest.length === 0) return;
      // The files first: a row without its file is found here again.
      await kept.delete(oldest);
      await bytes.forget(oldest);
      for (const _ of oldest) limits.note('kept_log_bytes', userId);
    }
  }
}

/** As many as take so much together. */
function upTo(logs: readonly { run_id: string; bytes: number }[], wanted: number): string[] {
  let bytes = 0;
  const chosen = logs.filter((log) => {
    const isChosen = bytes < wanted;
    bytes += log.bytes;
    return isChosen;
  });
  return chosen.map(({ run_id }) => run_id);
}
