import { Readable } from 'node:stream';

import {
  type BlobStore,
  BlobMissing,
  type ByteSpan,
  type Pieces,
  type ReceivedBlob,
  type StoredBlob,
} from './blob-store.ts';
import type { Bucket, StoredObject } from './s3/bucket.ts';
import type { SpooledBody, Spool } from './s3/spool.ts';

interface S3BlobsOptions {
  bucket: Bucket;
  /** Of all keys in the bucket; it ends with a slash. */
  prefix: string;
  /** Where a body is until its length is known. Without one the blobs are only read. */
  spool?: Spool | undefined;
  /** The error of reading a blob that was found and is gone. */
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
    // No range of bytes has nothing in it.
    if (sizeBytes === 0) return;
    const stream = await this.#bucket.read(this.#prefix + key, {
      etag,
      ...(range !== undefined && { range }),
    });
    if (stream === undefined) throw this.#missing(key);
    yield* stream as AsyncIterable<Uint8Array>;
  }
}
