import type { Limits } from '../../limits/limits.ts';
import type { KeptBytesStore } from './kept-chunk-store.ts';
import type { ArchivedLogs } from './archived-logs.ts';

interface Options {
  kept: ArchivedLogs;
  bytes: KeptBytesStore;
  limits: Limits;
  /** What the kept logs of the user take. */
  used: (userId: string) => Promise<number>;
}

const lookedAtOnce = 100;

/** Holds the kept logs of each user to what they may take: the logs of the oldest runs make room for new ones. */
export class ArchiveQuota {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
    options.limits.show('kept_log_bytes', options.used);
  }

  /** To be told of runs whose kept logs have grown. */
  async count(runIds: readonly string[]): Promise<void> {
    if (runIds.length === 0) return;
    const sizes = await this.#options.kept.sizesOf(runIds);
    for (const userId of await this.#options.bytes.save(sizes)) await this.#makeRoom(userId);
  }

  async #makeRoom(userId: string): Promise<void> {
    const { kept, bytes, limits, used } = this.#options;
    for (;;) {
      const excess = (await used(userId)) - limits.most('kept_log_bytes');
      if (excess <= 0) return;
      const oldest = upTo(await bytes.listOldest(userId, lookedAtOnce), excess);
      if (oldest.length === 0) return;
      // The chunks first: what counts them is found here again.
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
