import { Readable } from 'node:stream';
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  type BlobStore,
  BlobMissing,
  type ByteSpan,
  type Pieces,
  type ReceivedBlob,
  type StoredBlob,
} from './blob-store.ts';
import type { Bucket, StoredObject } from './s3/bucket.ts';
import { errorCodeOf } from '../../kernel/errors/api-error.ts';
import { folderMissing, PartFailed } from '../../kernel/faults/fault-monitor.ts';
import type { S3Body } from './s3/s3-exchange.ts';

interface S3BlobsOptions {
  bucket: Bucket;
  /** Prefix of all keys in the bucket; it ends with a slash. */
  prefix: string;
  /** Folder in which a body is kept until its length is known; undefined: the blobs are read-only. */
  spool?: Spool | undefined;
  /** Makes the error of reading a blob that was deleted after it was found. */
  missing?: ((key: string) => Error) | undefined;
}

/** Blobs as objects of a bucket, with the names that they have in a data folder. */
export class S3Blobs implements BlobStore {
  readonly #bucket: Bucket;
  readonly #prefix: string;
  readonly #spool: Spool | undefined;
  readonly #missing: (key: string) => Error;

  constructor({ bucket, prefix, spool, missing = (key) => new BlobMissing(key) }: S3BlobsOptions) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#spool = spool;
    this.#missing = missing;
  }

  async receive(body: Pieces): Promise<ReceivedBlob> {
    if (this.#spool === undefined) throw new Error('these blobs are only read');
    const spooled = await this.#spool.take(body);
    const discard = (): Promise<void> => spooled.remove();
    return {
      sizeBytes: spooled.sizeBytes,
      discard,
      keep: (key, contentType) => this.#keep(spooled, key, contentType),
    };
  }

  async find(key: string): Promise<StoredBlob | undefined> {
    const found = await this.#bucket.find(this.#prefix + key);
    if (found === undefined) return undefined;
    return {
      sizeBytes: found.sizeBytes,
      version: found.etag.replaceAll('"', ''),
      read: (span) => Readable.from(this.#pieces(key, found, span), { objectMode: false }),
      // Nothing is open before it is read.
      close: async () => undefined,
    };
  }

  read(key: string): Promise<Readable | undefined> {
    return this.#bucket.read(this.#prefix + key);
  }

  async delete(keys: readonly string[]): Promise<void> {
    await this.#bucket.delete(keys.map((key) => this.#prefix + key));
  }

  async deleteBelow(prefix: string): Promise<void> {
    await this.#bucket.deleteBelow(this.#prefix + prefix);
  }

  listFolders(prefix: string): Promise<string[]> {
    return this.#bucket.listFolders(this.#prefix + prefix);
  }

  async *listKeys(): AsyncGenerator<string[]> {
    for await (const names of this.#bucket.listKeys(this.#prefix))
      yield names.map((name) => name.slice(this.#prefix.length));
  }

  async #keep(spooled: SpooledBody, key: string, contentType: string): Promise<void> {
    try {
      await this.#bucket.put(this.#prefix + key, spooled, contentType);
    } finally {
      await spooled.remove();
    }
  }

  async *#pieces(
    key: string,
    { etag, sizeBytes }: StoredObject,
    range: ByteSpan | undefined,
  ): AsyncGenerator<Uint8Array> {
    // A range of bytes can't be empty.
    if (sizeBytes === 0) return;
    const stream = await this.#bucket.read(this.#prefix + key, {
      etag,
      ...(range !== undefined && { range }),
    });
    if (stream === undefined) throw this.#missing(key);
    yield* stream as AsyncIterable<Uint8Array>;
  }
}

interface SpooledBody extends S3Body {
  /** Removes the file after it was sent, or is no longer needed. */
  remove(): Promise<void>;
}

/** Folder that keeps bodies of unknown length until they are sent. */
export class Spool {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Opens the folder. Deletes files of an earlier process. */
  static async open(folder: string): Promise<Spool> {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new Spool(folder);
  }

  /** Writes the pieces to a file. Throws their error, or that of the disk, and then keeps nothing of them. */
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

/** Writes a file without a flush: it need not outlive this process. */
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
