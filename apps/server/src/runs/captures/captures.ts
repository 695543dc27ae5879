import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createZstdCompress, zstdDecompress } from 'node:zlib';
import { type CaptureKind, maxCaptureBytes } from '@phalanx/protocol';
import { validate } from 'uuid';
import type { BlobStore, Pieces, StoredBlob } from '../../storage/blobs/blob-store.ts';

/** Kind of a blob: a capture of a record's screen, a run file, or a part of a run's film. */
export type BlobKind = CaptureKind | 'file' | 'picture' | 'video';

/** Identifies a capture, a run file or a film part. The IDs are UUIDs in lower case. */
export interface CaptureKey<Kind extends BlobKind = BlobKind> {
  /** ID of the record or run. */
  readonly recordId: string;
  /** ID of the screen, file or film part. */
  readonly screenId: string;
  readonly kind: Kind;
}

/** A received body that no reader sees yet. Call exactly one of `keep` and `discard`, once. */
export interface ReceivedCapture {
  /** Stored size, in bytes. */
  readonly sizeBytes: number;
  /** Publishes the body as the capture. Replaces an earlier capture atomically. A kept body survives a power loss. */
  keep(): Promise<void>;
  discard(): Promise<void>;
}

export const contentTypes: Readonly<Record<BlobKind, string>> = {
  tree: 'application/json',
  screenshot: 'image/jpeg',
  file: 'application/octet-stream',
  picture: 'image/jpeg',
  video: 'video/mp4',
};

/** The name of the blobs of captures, in a data folder and in a bucket. */
export const capturesName = 'captures';

/** Number of parts over which records are distributed, by the random end of their IDs. */
export const partCount = 256;

const isRecordId = (text: string): boolean => validate(text) && text === text.toLowerCase();

/**
 * Returns the folder of a record, sharded by the end of its ID: `3f/<record>`. Validates the ID, because it becomes a
 * path.
 */
function recordPath(id: string): string {
  if (!isRecordId(id)) throw new Error('the ID of a record is not a UUID in lower case');
  return path.posix.join(id.slice(-2), id);
}

/**
 * Returns the path of a capture: `3f/<record>/<screen>.screenshot`, or `….tree.zst` for a tree, which is compressed.
 */
export function capturePath({ recordId, screenId, kind }: CaptureKey): string {
  if (!isRecordId(screenId)) throw new Error('the ID of a screen is not a UUID in lower case');
  return path.posix.join(recordPath(recordId), `${screenId}.${kind === 'tree' ? 'tree.zst' : kind}`);
}

/** Stores the captures of records, and the files and films of runs. */
export class Captures {
  readonly #blobs: BlobStore;

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /** Receives a body to its end. Throws the error of the body or of the storage, and then keeps nothing of it. */
  async receive(key: CaptureKey, body: Pieces): Promise<ReceivedCapture> {
    const isTree = key.kind === 'tree';
    const received = await this.#blobs.receive(isTree ? packTree(body) : body);
    return {
      sizeBytes: received.sizeBytes,
      discard: () => received.discard(),
      keep: () => received.keep(capturePath(key), isTree ? 'application/zstd' : contentTypes[key.kind]),
    };
  }

  /** Finds a stored blob. Decompresses a tree in memory; other kinds are streamed. */
  async find(key: CaptureKey): Promise<StoredBlob | undefined> {
    const stored = await this.#blobs.find(capturePath(key));
    return stored !== undefined && key.kind === 'tree' ? unpackTree(stored) : stored;
  }

  /** Deletes all blobs of a record or run. Idempotent: succeeds when there are none. */
  async deleteRecord(id: string): Promise<void> {
    await this.#blobs.deleteBelow(`${recordPath(id)}/`);
  }

  /** Lists the IDs of the records and runs that have blobs, in one part from 0 to `partCount - 1`. */
  async listRecords(part: number): Promise<string[]> {
    const names = await this.#blobs.listFolders(`${part.toString(16).padStart(2, '0')}/`);
    return names.filter((name) => isRecordId(name));
  }
}

const unpack = promisify(zstdDecompress);

/** Compresses a tree. Its JSON repeats the same few names at every node, and shrinks to a tenth. */
async function* packTree(json: Pieces): AsyncGenerator<Uint8Array> {
  const packing = createZstdCompress();
  const end = pipeline(json, packing);
  // An error of the body also surfaces through `packing`.
  end.catch(() => undefined);
  yield* packing;
  await end;
}

/**
 * Decompresses a stored tree into the JSON that was uploaded, with its size. Reads the stored blob to its end, which
 * closes it.
 */
async function unpackTree(stored: StoredBlob): Promise<StoredBlob> {
  const json = await unpack(await buffer(stored.read()), { maxOutputLength: maxCaptureBytes });
  return {
    sizeBytes: json.length,
    version: stored.version,
    read: (span) =>
      Readable.from([span === undefined ? json : json.subarray(span.first, span.last + 1)], {
        objectMode: false,
      }),
    close: async () => undefined,
  };
}

export interface KnownOwners {
  /** Selects the IDs that belong to records or runs. */
  listKnown: (recordIds: readonly string[]) => Promise<ReadonlySet<string>>;
}
