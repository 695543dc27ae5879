import type { Readable } from 'node:stream';

export interface FileStat {
  /** Type and permission bits, as in `st_mode`. */
  readonly mode: number;
  readonly sizeBytes: number;
  readonly modifiedSeconds: number;
}

/** A file operation failed for a reason that the peer is told, in a phone's words. */
export class FileSystemError extends Error {
  override readonly name = 'FileSystemError';
}

export interface Upload {
  append(data: Buffer): void;
  /** Stores the file. Returns the reason when it could not be stored. */
  finish(modifiedSeconds: number): string | undefined;
}

/** What the sync service needs of a phone's files. Methods throw FileSystemError. */
export interface SyncFiles {
  findStat(path: string): FileStat | undefined;
  listDirectory(path: string): { name: string; stat: FileStat }[];
  readFile(path: string): Buffer;
  startUpload(path: string, mode: number): Upload;
}

/** Reads exact numbers of bytes from a stream. Rejects when the stream ends before. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#chunks = stream.iterator({ destroyOnReturn: false });
  }

  async read(sizeBytes: number): Promise<Buffer> {
    const parts: Buffer[] = [this.#rest];
    let bufferedBytes = this.#rest.length;
    while (bufferedBytes < sizeBytes) {
      const next = await this.#chunks.next();
      if (next.done) throw new Error('The stream ended in the middle of a message.');
      parts.push(next.value);
      bufferedBytes += next.value.length;
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts);
    this.#rest = all.subarray(sizeBytes);
    return all.subarray(0, sizeBytes);
  }
}
