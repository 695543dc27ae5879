import { LRUCache } from 'lru-cache';

import { bytesOf, encodeChunk, type ChunkHeader, type KeptChunk, type NewChunk } from './kept-chunk.ts';

/** What is kept of a run. */
export interface KeptState {
  sizeBytes: number;
  /** Of the last entry; empty when there is none. */
  lastId: string;
  seq: number;
  /** Number that the next entry gets. */
  next: number;
}

/** Where the chunks of runs are. */
export interface KeptChunks {
  /** Of the last chunk, and the size of all; undefined when there is none. */
  findLast(runId: string): Promise<{ header: ChunkHeader; sizeBytes: number } | undefined>;
  list(runId: string): Promise<KeptChunk[]>;
  /** `bytes` are those of the chunk. */
  add(runId: string, chunk: KeptChunk, bytes: Buffer): Promise<void>;
  /** Deletes the chunks of the run but these. */
  keepOnly(runId: string, chunks: readonly KeptChunk[]): Promise<void>;
  delete(runIds: readonly string[]): Promise<void>;
}

/**
 * The logs of runs for as long as the runs are kept: compressed chunks. Of a log that grows beyond a limit, chunks in
 * the middle are left out.
 */
export class KeptLogs {
  readonly #chunks: KeptChunks;
  readonly #maxBytes: number;
  /** Of the runs that have logged lately. */
  readonly #states = new LRUCache<string, KeptState>({ max: 50_000 });

  readonly #isShared: boolean;

  /** `isShared`: other servers keep logs of the same runs at other times. */
  constructor({ chunks, maxBytes, isShared }: { chunks: KeptChunks; maxBytes: number; isShared: boolean }) {
    this.#chunks = chunks;
    this.#maxBytes = maxBytes;
    this.#isShared = isShared;
  }

  /** ID of the last entry that is kept, as far as this process has had to do with the run. */
  lastIdNow(runId: string): string {
    return this.#states.peek(runId)?.lastId ?? '';
  }

  async stateOf(runId: string): Promise<Readonly<KeptState>> {
    const known = this.#isShared ? undefined : this.#states.get(runId);
    if (known !== undefined) return known;
    const last = await this.#chunks.findLast(runId);
    const state = stateAfter(last?.header, last?.sizeBytes ?? 0);
    this.#states.set(runId, state);
    return state;
  }

  /** Only one append of a run at a time. What is there already is not added again. */
  async append(runId: string, chunk: NewChunk): Promise<void> {
    const state = await this.stateOf(runId);
    if (chunk.last_id <= state.lastId) return;
    const encoded = await encodeChunk(chunk, state.next);
    const bytes = bytesOf(encoded);
    // Until that has succeeded, nobody knows what is there.
    this.#states.delete(runId);
    await this.#chunks.add(runId, encoded, bytes);
    const sizeBytes = state.sizeBytes + bytes.length;
    this.#states.set(runId, stateAfter(encoded.header, sizeBytes));
    if (sizeBytes > this.#maxBytes) await this.#shorten(runId);
  }

  read(runId: string): Promise<KeptChunk[]> {
    return this.#chunks.list(runId);
  }

  async delete(runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) this.#states.delete(runId);
    await this.#chunks.delete(runIds);
  }

  /** Keeps the first half, and of the second the newest part: there is room again for a quarter. */
  async #shorten(runId: string): Promise<void> {
    const all = await this.read(runId);
    const head = upTo(all, this.#maxBytes / 2);
    const chunks = [...head, ...upTo(all.slice(head.length).toReversed(), this.#maxBytes / 4).toReversed()];
    await this.#chunks.keepOnly(runId, chunks);
    const sizeBytes = chunks.reduce((sum, chunk) => sum + bytesOf(chunk).length, 0);
    this.#states.set(runId, stateAfter(chunks.at(-1)?.header, sizeBytes));
  }
}

/** `last`: of the last chunk. */
function stateAfter(last: ChunkHeader | undefined, sizeBytes: number): KeptState {
  if (last === undefined) return { sizeBytes: 0, lastId: '', seq: 0, next: 1 };
  return { sizeBytes, lastId: last.last_id, seq: last.seq, next: last.first + last.count };
}

/** As many from the beginning as fit; one at least. */
function upTo(chunks: readonly KeptChunk[], maxBytes: number): KeptChunk[] {
  let sizeBytes = 0;
  const end = chunks.findIndex((chunk) => (sizeBytes += bytesOf(chunk).length) > maxBytes);
  return chunks.slice(0, end === -1 ? chunks.length : Math.max(1, end));
}
