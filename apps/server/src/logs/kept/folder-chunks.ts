import { appendFile, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { errorCodeOf } from '../../error-code.ts';
import { bytesOf, chunksIn, type ChunkHeader, type KeptChunk } from './kept-chunk.ts';
import type { KeptChunks } from './kept-logs.ts';

const unlinksAtOnce = 64;
/** By two digits of the ID. */
export const partCount = 256;

/** A file for each run, to which chunks are appended. */
export class FolderChunks implements KeptChunks {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Takes away the end of a write that was cut off. */
  async findLast(runId: string): Promise<{ header: ChunkHeader; sizeBytes: number } | undefined> {
    const file = await this.#readFile(runId);
    const { chunks, wholeBytes } = chunksIn(file);
    if (wholeBytes < file.length) await truncate(this.#path(runId), wholeBytes);
    const last = chunks.at(-1);
    return last && { header: last.header, sizeBytes: wholeBytes };
  }

  async list(runId: string): Promise<KeptChunk[]> {
    return chunksIn(await this.#readFile(runId)).chunks;
  }

  /** A folder is made when the first file is to be in it. */
  async add(runId: string, _chunk: KeptChunk, bytes: Buffer): Promise<void> {
    const file = this.#path(runId);
    await appendFile(file, bytes).catch(async (error: unknown) => {
      if (errorCodeOf(error) !== 'ENOENT') throw error;
      await mkdir(path.dirname(file), { recursive: true });
      await appendFile(file, bytes);
    });
  }

  async keepOnly(runId: string, chunks: readonly KeptChunk[]): Promise<void> {
    const file = this.#path(runId);
    await writeFile(`${file}.new`, Buffer.concat(chunks.map(bytesOf)));
    await rename(`${file}.new`, file);
  }

  async delete(runIds: readonly string[]): Promise<void> {
    for (let first = 0; first < runIds.length; first += unlinksAtOnce) {
      const some = runIds.slice(first, first + unlinksAtOnce);
      await Promise.all(some.map((runId) => rm(this.#path(runId), { force: true })));
    }
  }

  /** The runs with files in one of the `partCount` parts. */
  async listPart(part: number): Promise<string[]> {
    const names = await readdir(path.join(this.#folder, partName(part))).catch(() => []);
    return names.filter((name) => !name.endsWith('.new'));
  }

  async #readFile(runId: string): Promise<Buffer> {
    try {
      return await readFile(this.#path(runId));
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return Buffer.alloc(0);
      throw error;
    }
  }

  #path(runId: string): string {
    return path.join(this.#folder, keptLogPath(runId));
  }
}

/** By the last digits of the ID, which are random, so that no folder has very many files. */
export const keptLogPath = (runId: string): string => path.posix.join(runId.slice(-2), runId);

const partName = (part: number): string => part.toString(16).padStart(2, '0');
