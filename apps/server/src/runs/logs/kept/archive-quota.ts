import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Limits } from '../../../kernel/limits/limits.ts';
import type { KeptLogStore } from './kept-log-store.ts';

/**
 * Number of runs whose chunks are deleted per batch. SQLite blocks the event loop meanwhile: some 8 ms for the chunks
 * of a 4 MB log.
 */
export const deletedAtOnce = 8;

interface QuotaOptions {
  kept: KeptLogStore;
  limits: Limits;
  /** Returns the bytes of the user's kept logs. */
  used: (userId: string) => Promise<number>;
}

const lookedAtOnce = 100;

/** Enforces the quota of kept logs per user. Deletes the logs of the oldest runs to make room for new ones. */
export class ArchiveQuota {
  readonly #options: QuotaOptions;

  constructor(options: QuotaOptions) {
    this.#options = options;
    options.limits.registerUsage('kept_log_bytes', options.used);
  }

  /** Enforces the quota of the users whose runs' kept logs have grown. */
  async enforce(runIds: readonly string[]): Promise<void> {
    for (const userId of await this.#options.kept.findUsers(runIds)) await this.#makeRoom(userId);
  }

  async #makeRoom(userId: string): Promise<void> {
    const { kept, limits, used } = this.#options;
    for (;;) {
      const excess = (await used(userId)) - limits.limitOf('kept_log_bytes');
      if (excess <= 0) return;
      const oldest = oldestUpTo(await kept.listOldest(userId, lookedAtOnce), excess);
      if (oldest.length === 0) return;
      await deleteLogs(kept, oldest);
      for (const _ of oldest) limits.note('kept_log_bytes', userId);
    }
  }
}

/** Deletes logs and traces of runs in batches, and yields to the event loop between them. */
export async function deleteLogs(kept: KeptLogStore, runIds: readonly string[]): Promise<void> {
  for (let first = 0; first < runIds.length; first += deletedAtOnce) {
    await kept.delete(runIds.slice(first, first + deletedAtOnce));
    await nextTurn();
  }
}

/** Selects the oldest logs until they add up to `wanted` bytes. */
function oldestUpTo(logs: readonly { run_id: string; bytes: number }[], wanted: number): string[] {
  let bytes = 0;
  const chosen = logs.filter((log) => {
    const isChosen = bytes < wanted;
    bytes += log.bytes;
    return isChosen;
  });
  return chosen.map(({ run_id }) => run_id);
}
