import { type KeptChunk, type KeptChunkStore, type NewChunk, packChunk } from './kept-chunk-store.ts';

interface Options {
  chunks: KeptChunkStore;
  /** Limit of the log, or the trace, of one run, compressed, in bytes. */
  maxBytes: number;
}

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

  /** Finds the ID of the last entry that is kept of the run; empty when there is none. */
  lastIdOf(runId: string): Promise<string> {
    return this.#chunks.lastIdOf(runId);
  }

  /** Adds a chunk to each of some runs, all together or none. Only one append of a run at a time. */
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

  /** Keeps the first half, and of the second the newest part: there is room again for a quarter. */
  async #shorten(runId: string): Promise<void> {
    const all = await this.read(runId);
    const head = upTo(all, this.#maxBytes / 2);
    const end = upTo(all.slice(head.length).toReversed(), this.#maxBytes / 4);
    await this.#chunks.keepOnly(runId, [...head, ...end]);
  }
}

/** Returns the first chunks that fit, at least one. */
function upTo(chunks: readonly KeptChunk[], maxBytes: number): KeptChunk[] {
  let sizeBytes = 0;
  const end = chunks.findIndex(({ packed }) => (sizeBytes += packed.length) > maxBytes);
  return chunks.slice(0, end === -1 ? chunks.length : Math.max(1, end));
}
