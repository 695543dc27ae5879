import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';

import { errorCodeOf } from '../../errors/error-code.ts';
import { folderMissing, PartFailed } from '../../faults/fault.ts';
import type { S3Body } from './s3-exchange.ts';

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export interface SpooledBody extends S3Body {
  /** When it was sent, or nobody wants it. */
  remove(): Promise<void>;
}

/** A folder where bodies of unknown length wait whole, until they are sent. */
export class Spool {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** What an earlier process left goes away. */
  static async open(folder: string): Promise<Spool> {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new Spool(folder);
  }

  /** Throws what the pieces throw, and what the disk says; then nothing is left of them. */
  async take(pieces: Pieces): Promise<SpooledBody> {
    const file = path.join(this.#folder, randomUUID());
    const remove = (): Promise<void> => rm(file, { force: true });
    try {
      return { ...(await write(file, pieces)), remove, open: () => createReadStream(file) };
    } catch (error) {
      await remove();
      throw errorCodeOf(error) === 'ENOENT' ? new PartFailed(folderMissing, { cause: error }) : error;
    }
  }
}

/** It need not outlive this process. */
async function write(file: string, pieces: Pieces): Promise<{ sizeBytes: number; sha256: string }> {
  const handle = await open(file, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    for await (const piece of pieces) {
      hash.update(piece);
      await handle.writeFile(piece);
      sizeBytes += piece.byteLength;
    }
    return { sizeBytes, sha256: hash.digest('hex') };
  } finally {
    await handle.close();
  }
}
