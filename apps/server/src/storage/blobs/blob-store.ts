import type { Readable } from 'node:stream';

export type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Span of bytes; both ends are inclusive, from 0. */
export interface ByteSpan {
  readonly first: number;
  readonly last: number;
}

/** Body that has been received, and that no reader sees yet. Call one of the two methods, once. */
export interface ReceivedBlob {
  readonly sizeBytes: number;
  /** Makes the body the blob of this key, in place of an earlier one. It outlives a loss of power. */
  keep(key: string, contentType: string): Promise<void>;
  discard(): Promise<void>;
}

export interface StoredBlob {
  readonly sizeBytes: number;
  /** Version of the content, of word characters and hyphens. */
  readonly version: string;
  /**
   * Opens the blob. The caller reads the stream to its end or destroys it. Reading fails if the blob is deleted
   * meanwhile.
   */
  read(span?: ByteSpan): Readable;
  /** Closes a blob that is not read. */
  close(): Promise<void>;
}

/**
 * Large bodies by key, in a folder or in a bucket of S3. A key is a path of safe names with slashes between them; its
 * caller checks the names. No key begins with `incoming/`.
 */
export interface BlobStore {
  /** Receives a body to its end. Throws the error of the body or of the disk, and then keeps nothing of it. */
  receive(body: Pieces): Promise<ReceivedBlob>;
  find(key: string): Promise<StoredBlob | undefined>;
  /** Reads a whole blob in one request. */
  read(key: string): Promise<Readable | undefined>;
  /** Deletes blobs. A key without a blob is a success. */
  delete(keys: readonly string[]): Promise<void>;
  /** Deletes all blobs whose keys begin with `prefix`, which ends with a slash. */
  deleteBelow(prefix: string): Promise<void>;
  /** Lists the names directly below a prefix that have keys below them. The prefix is empty or ends with a slash. */
  listFolders(prefix: string): Promise<string[]>;
  /** Lists all keys, in batches. */
  listKeys(): AsyncGenerator<string[]>;
}

/** Error of a key without a blob. */
export class BlobMissing extends Error {
  override readonly name = 'BlobMissing';
  readonly code = 'ENOENT';

  constructor(key: string) {
    super(`${key} is not in the store of blobs`);
  }
}
