import { setImmediate as nextTurn } from 'node:timers/promises';

import {
  type KeptChunk,
  type NewChunk,
  packChunk,
  type KeptChunkStore,
  type KeptState,
  type KeptBytesStore,
} from './kept-chunk-store.ts';
import type { Limits } from '../../../kernel/limits/limits.ts';

interface Options {
  chunks: KeptChunkStore;
  /** Limit of the log, or the trace, of one run, compressed, in bytes. */
  maxBytes: number;
}

/**
 * Number of runs whose chunks one step deletes. SQLite holds up everything else meanwhile: some 8 ms for the chunks of
 * a log of 4 MB.
 */
export const deletedAtOnce = 8;

const nothing: KeptState = { sizeBytes: 0, lastId: '', next: 1 };

/**
 * The logs, or the traces, of runs for as long as the runs are kept: compressed chunks. Of a log that grows beyond a limit, chunks in
 * the middle are left out.
 */
export class ArchivedLogs {
  readonly #chunks: KeptChunkStore;
  readonly #maxBytes: number;

  constructor({ chunks, maxBytes }: Options) {
    this.#chunks = chunks;
    this.#maxBytes = maxBytes;
  }

  async stateOf(runId: string): Promise<KeptState> {
    return (await this.#chunks.statesOf([runId])).get(runId) ?? nothing;
  }

  /**
   * Adds a chunk to each of some runs, all together or none, and returns the new state of each. Only one append of a
   * run at a time.
   */
  async append(added: ReadonlyMap<string, NewChunk>): Promise<Map<string, KeptState>> {
    const before = await this.#chunks.statesOf([...added.keys()]);
    const packed = await Promise.all(
      Array.from(added, async ([runId, chunk]) => {
        const { next } = before.get(runId) ?? nothing;
        return [runId, await packChunk(chunk, next)] as const;
      }),
    );
    await this.#chunks.add(new Map(packed));
    const after = new Map<string, KeptState>();
    for (const [
      runId,
      {
        first,
        count,
        last_id: lastId,
        packed: { length },
      },
    ] of packed) {
      const sizeBytes = (before.get(runId) ?? nothing).sizeBytes + length;
      const left = sizeBytes > this.#maxBytes ? await this.#shorten(runId) : sizeBytes;
      after.set(runId, { sizeBytes: left, lastId, next: first + count });
    }
    return after;
  }

  /** Reads the size of each run's kept chunks, logs and traces together. */
  sizesOf(runIds: readonly string[]): Promise<Map<string, number>> {
    return this.#chunks.sizesOf(runIds);
  }

  read(runId: string): Promise<KeptChunk[]> {
    return this.#chunks.list(runId);
  }

  /** Deletes logs and traces of runs in steps, with a turn of the event loop between them. */
  async delete(runIds: readonly string[]): Promise<void> {
    for (let first = 0; first < runIds.length; first += deletedAtOnce) {
      await this.#chunks.delete(runIds.slice(first, first + deletedAtOnce));
      await nextTurn();
    }
  }

  /** Keeps the first half, and of the second the newest part: there is room again for a quarter. Returns the size. */
  async #shorten(runId: string): Promise<number> {
    const all = await this.read(runId);
    const head = upTo(all, this.#maxBytes / 2);
    const chunks = [...head, ...upTo(all.slice(head.length).toReversed(), this.#maxBytes / 4).toReversed()];
    await this.#chunks.keepOnly(runId, chunks);
    return chunks.reduce((sum, { packed }) => sum + packed.length, 0);
  }
}

/** Returns the first chunks that fit, at least one. */
function upTo(chunks: readonly KeptChunk[], maxBytes: number): KeptChunk[] {
  let sizeBytes = 0;
  const end = chunks.findIndex(({ packed }) => (sizeBytes += packed.length) > maxBytes);
  return chunks.slice(0, end === -1 ? chunks.length : Math.max(1, end));
}

interface QuotaOptions {
  kept: ArchivedLogs;
  bytes: KeptBytesStore;
  limits: Limits;
  /** Counts the bytes of the user's kept logs. */
  used: (userId: string) => Promise<number>;
}

const lookedAtOnce = 100;

/** Enforces the quota of kept logs per user: the logs of the oldest runs make room for new ones. */
export class ArchiveQuota {
  readonly #options: QuotaOptions;

  constructor(options: QuotaOptions) {
    this.#options = options;
    options.limits.show('kept_log_bytes', options.used);
  }

  /** Counts the kept logs of runs that have grown, and makes room where they exceed a quota. */
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
      const oldest = oldestUpTo(await bytes.listOldest(userId, lookedAtOnce), excess);
      if (oldest.length === 0) return;
      // Deletes the chunks first: after a crash, the rows that count them are found here again.
      await kept.delete(oldest);
      await bytes.forget(oldest);
      for (const _ of oldest) limits.note('kept_log_bytes', userId);
    }
  }
}

/** Chooses the oldest logs until they take `wanted` bytes together. */
function oldestUpTo(logs: readonly { run_id: string; bytes: number }[], wanted: number): string[] {
  let bytes = 0;
  const chosen = logs.filter((log) => {
    const isChosen = bytes < wanted;
    bytes += log.bytes;
    return isChosen;
  });
  return chosen.map(({ run_id }) => run_id);
}
