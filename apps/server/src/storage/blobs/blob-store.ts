import type { Readable } from 'node:stream';

export type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Span of bytes; both ends are inclusive, from 0. */
export interface ByteSpan {
  readonly first: number;
  readonly last: number;
}

/** A body that has arrived whole and that no reader sees yet. One of the two must be called, once. */
export interface ReceivedBlob {
  readonly sizeBytes: number;
  /** Makes it the blob of this key; an earlier one is replaced at once. It outlives a loss of power. */
  keep(key: string, contentType: string): Promise<void>;
  discard(): Promise<void>;
}

export interface StoredBlob {
  readonly sizeBytes: number;
  /** Differs when the content does: word characters and hyphens. */
  readonly version: string;
  /** The caller reads it to its end or destroys it. It fails when the blob is gone meanwhile. */
  read(span?: ByteSpan): Readable;
  /** Closes a blob that is not read. */
  close(): Promise<void>;
}

/**
 * Large bodies by key, in a folder or in a bucket of S3. A key is a path of safe names with slashes between them; its
 * caller checks the names. No key begins with `incoming/`.
 */
export interface BlobStore {
  /** Takes in a body to its end. Throws the error of the body or of the disk; then nothing is left of it. */
  receive(body: Pieces): Promise<ReceivedBlob>;
  find(key: string): Promise<StoredBlob | undefined>;
  /** The whole of a blob, in one request. */
  read(key: string): Promise<Readable | undefined>;
  /** A key without a blob is a success. */
  delete(keys: readonly string[]): Promise<void>;
  /** Deletes all blobs whose keys begin with this, which ends with a slash. */
  deleteBelow(prefix: string): Promise<void>;
  /** The next names of the keys that go on below a prefix, which is empty or ends with a slash. */
  listFolders(prefix: string): Promise<string[]>;
  /** All keys, some at a time. */
  listKeys(): AsyncGenerator<string[]>;
}

/** A blob that its key names and that is not there. */
export class BlobMissing extends Error {
  override readonly name = 'BlobMissing';
  readonly code = 'ENOENT';

  constructor(key: string) {
    super(`${key} is not in the store of blobs`);
  }
}
