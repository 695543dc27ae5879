import { type KeptChunk, type KeptChunkStore, type NewChunk, packChunk } from './kept-chunk-store.ts';

interface Options {
  chunks: KeptChunkStore;
  /** Limit of the compressed log or trace of one run, in bytes. */
  maxBytes: number;
}

/**
 * Stores the logs or traces of runs as compressed chunks, for as long as the runs are kept. Drops chunks in the middle
 * of a log that exceeds the limit.
 */
export class ArchivedLogs {
  readonly #chunks: KeptChunkStore;
  readonly #maxBytes: number;

  constructor({ chunks, maxBytes }: Options) {
    this.#chunks = chunks;
    this.#maxBytes = maxBytes;
  }

  /** Returns the ID of the last kept entry of the run; empty when there is none. */
  lastIdOf(runId: string): Promise<string> {
    return this.#chunks.lastIdOf(runId);
  }

  /** Appends one chunk per run, for all runs or for none. Concurrent appends for the same run are not allowed. */
  async append(added: ReadonlyMap<string, NewChunk>): Promise<void> {
    const before = await this.#chunks.statesOf([...added.keys()]);
    const packed = await Promise.all(
      Array.from(
        added,
        async ([runId, chunk]) => [runId, await packChunk(chunk, before.get(runId)?.next ?? 1)] as const,
      ),
    );
    await this.#chunks.add(new Map(packed));
    for (const [runId, chunk] of packed) {
      const sizeBytes = (before.get(runId)?.sizeBytes ?? 0) + chunk.packed.length;
      if (sizeBytes > this.#maxBytes) await this.#shorten(runId);
    }
  }

  read(runId: string): Promise<KeptChunk[]> {
    return this.#chunks.list(runId);
  }

  /**
   * Keeps the oldest chunks up to half of the limit, and the newest up to a quarter, so that a quarter is free again.
   */
  async #shorten(runId: string): Promise<void> {
    const all = await this.read(runId);
    const head = upTo(all, this.#maxBytes / 2);
    const end = upTo(all.slice(head.length).toReversed(), this.#maxBytes / 4);
    await this.#chunks.keepOnly(runId, [...head, ...end]);
  }
}

/** Returns the leading chunks that fit into `maxBytes`, at least one. */
function upTo(chunks: readonly KeptChunk[], maxBytes: number): KeptChunk[] {
  let sizeBytes = 0;
  const end = chunks.findIndex(({ packed }) => (sizeBytes += packed.length) > maxBytes);
  return chunks.slice(0, end === -1 ? chunks.length : Math.max(1, end));
}
