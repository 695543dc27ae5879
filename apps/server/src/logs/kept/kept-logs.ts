import { appendFile, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { LRUCache } from 'lru-cache';

import { errorCodeOf } from '../../error-code.ts';
import { bytesOf, chunksIn, encodeChunk, type KeptChunk, type NewChunk } from './kept-chunk.ts';

/** What is in a run's file. */
interface KeptState {
  sizeBytes: number;
  /** Of the last entry; empty when there is none. */
  lastId: string;
  seq: number;
  /** Number that the next entry gets. */
  next: number;
}

const empty: KeptState = { sizeBytes: 0, lastId: '', seq: 0, next: 1 };
const unlinksAtOnce = 64;
/** By two digits of the ID. */
export const partCount = 256;

/**
 * The logs of runs for as long as the runs are kept: a file each, to which compressed chunks are appended. Of a log that
 * grows beyond `maxBytes`, chunks in the middle are left out.
 */
export class KeptLogs {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** Of the runs that have logged lately. */
  readonly #states = new LRUCache<string, KeptState>({ max: 50_000 });

  constructor({ folder, maxBytes }: { folder: string; maxBytes: number }) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  /** ID of the last entry that is kept, as far as this process has had to do with the run. */
  lastIdNow(runId: string): string {
    return this.#states.peek(runId)?.lastId ?? '';
  }

  /** What the file holds, after the end of a write that was cut off has been taken away. */
  async stateOf(runId: string): Promise<Readonly<KeptState>> {
    const known = this.#states.get(runId);
    if (known !== undefined) return known;
    const file = await this.#readFile(runId);
    const { chunks, wholeBytes } = chunksIn(file);
    if (wholeBytes < file.length) await truncate(this.#path(runId), wholeBytes);
    const state = stateAfter(chunks, wholeBytes);
    this.#states.set(runId, state);
    return state;
  }

  /** Only one append of a run at a time. What is there already is not added again. */
  async append(runId: string, chunk: NewChunk): Promise<void> {
    const state = await this.stateOf(runId);
    if (chunk.last_id <= state.lastId) return;
    const encoded = await encodeChunk(chunk, state.next);
    const bytes = bytesOf(encoded);
    // Until the write has succeeded, nobody knows what is in the file.
    this.#states.delete(runId);
    await this.#write(runId, bytes);
    const sizeBytes = state.sizeBytes + bytes.length;
    this.#states.set(runId, stateAfter([encoded], sizeBytes));
    if (sizeBytes > this.#maxBytes) await this.#shorten(runId);
  }

  async read(runId: string): Promise<KeptChunk[]> {
    return chunksIn(await this.#readFile(runId)).chunks;
  }

  async delete(runIds: readonly string[]): Promise<void> {
    for (let first = 0; first < runIds.length; first += unlinksAtOnce) {
      const some = runIds.slice(first, first + unlinksAtOnce);
      for (const runId of some) this.#states.delete(runId);
      await Promise.all(some.map((runId) => rm(this.#path(runId), { force: true })));
    }
  }

  /** The runs with files in one of the `partCount` parts. */
  async listPart(part: number): Promise<string[]> {
    const names = await readdir(path.join(this.#folder, partName(part))).catch(() => []);
    return names.filter((name) => !name.endsWith('.new'));
  }

  /** A folder is made when the first file is to be in it. */
  async #write(runId: string, bytes: Buffer): Promise<void> {
    const file = this.#path(runId);
    await appendFile(file, bytes).catch(async (error: unknown) => {
      if (errorCodeOf(error) !== 'ENOENT') throw error;
      await mkdir(path.dirname(file), { recursive: true });
      await appendFile(file, bytes);
    });
  }

  /** Keeps the first half, and of the second the newest part: there is room again for a quarter. */
  async #shorten(runId: string): Promise<void> {
    const chunks = await this.read(runId);
    const head = upTo(chunks, this.#maxBytes / 2);
    const tail = upTo(chunks.slice(head.length).toReversed(), this.#maxBytes / 4).toReversed();
    const kept = Buffer.concat([...head, ...tail].map(bytesOf));
    const file = this.#path(runId);
    await writeFile(`${file}.new`, kept);
    await rename(`${file}.new`, file);
    this.#states.set(runId, stateAfter(tail, kept.length));
  }

  async #readFile(runId: string): Promise<Buffer> {
    try {
      return await readFile(this.#path(runId));
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return Buffer.alloc(0);
      throw error;
    }
  }

  /** By the last digits of the ID, which are random, so that no folder has very many files. */
  #path(runId: string): string {
    return path.join(this.#folder, runId.slice(-2), runId);
  }
}

const partName = (part: number): string => part.toString(16).padStart(2, '0');

function stateAfter(chunks: readonly KeptChunk[], sizeBytes: number): KeptState {
  const last = chunks.at(-1)?.header;
  if (last === undefined) return { ...empty };
  return { sizeBytes, lastId: last.last_id, seq: last.seq, next: last.first + last.count };
}

/** As many from the beginning as fit; one at least. */
function upTo(chunks: readonly KeptChunk[], maxBytes: number): KeptChunk[] {
  let sizeBytes = 0;
  const end = chunks.findIndex((chunk) => (sizeBytes += bytesOf(chunk).length) > maxBytes);
  return chunks.slice(0, end === -1 ? chunks.length : Math.max(1, end));
}
