import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createZstdCompress, zstdDecompress } from 'node:zlib';
import { type CaptureKind, maxCaptureBytes } from '@phalanx/protocol';
import { validate } from 'uuid';
import type { BlobStore, Pieces, StoredBlob } from '../../storage/blobs/blob-store.ts';

/** Kind of a blob: a capture of a screen of a record, or a file or a part of the film of a run. */
export type BlobKind = CaptureKind | 'file' | 'picture' | 'video';

/** Names one capture, or a file or a part of the film of a run by its IDs. The IDs are UUIDs in lower case. */
export interface CaptureKey<Kind extends BlobKind = BlobKind> {
  /** ID of the record, or of the run. */
  readonly recordId: string;
  /** ID of the screen, of the file, or of the part of a film. */
  readonly screenId: string;
  readonly kind: Kind;
}

/** Body that has been received, and that no reader sees yet. Call one of the two methods, once. */
export interface ReceivedCapture {
  /** Size as it is stored, in bytes. */
  readonly sizeBytes: number;
  /** Makes it the capture; an earlier one is replaced at once. It outlives a loss of power. */
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

/** Number of parts that records are spread over, by the random end of their IDs. */
export const partCount = 256;

const isRecordId = (text: string): boolean => validate(text) && text === text.toLowerCase();

/** Folder of a record, by the end of its ID: `3f/<record>`. The ID is checked, because it becomes a path. */
function recordPath(id: string): string {
  if (!isRecordId(id)) throw new Error('the ID of a record is not a UUID in lower case');
  return path.posix.join(id.slice(-2), id);
}

/** `3f/<record>/<screen>.screenshot`; a tree is compressed: `….tree.zst`. */
export function capturePath({ recordId, screenId, kind }: CaptureKey): string {
  if (!isRecordId(screenId)) throw new Error('the ID of a screen is not a UUID in lower case');
  return path.posix.join(recordPath(recordId), `${screenId}.${kind === 'tree' ? 'tree.zst' : kind}`);
}

/** The captures of records, and the files and films of runs. */
export class Captures {
  readonly #blobs: BlobStore;

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /** Receives a body to its end. Throws the error of the body or of the disk, and then keeps nothing of it. */
  async receive(key: CaptureKey, body: Pieces): Promise<ReceivedCapture> {
    const isTree = key.kind === 'tree';
    const received = await this.#blobs.receive(isTree ? packTree(body) : body);
    return {
      sizeBytes: received.sizeBytes,
      discard: () => received.discard(),
      keep: () => received.keep(capturePath(key), isTree ? 'application/zstd' : contentTypes[key.kind]),
    };
  }

  /** A tree is read whole; the others as far as their reader wishes. */
  async find(key: CaptureKey): Promise<StoredBlob | undefined> {
    const stored = await this.#blobs.find(capturePath(key));
    return stored !== undefined && key.kind === 'tree' ? unpackTree(stored) : stored;
  }

  /** Deletes all blobs of a record or a run. Succeeds also when there are none. */
  async deleteRecord(id: string): Promise<void> {
    await this.#blobs.deleteBelow(`${recordPath(id)}/`);
  }

  /**
   * Lists the IDs of the records and runs of which something is stored, in one of the parts from 0 to `partCount - 1`.
   */
  async listRecords(part: number): Promise<string[]> {
    const names = await this.#blobs.listFolders(`${part.toString(16).padStart(2, '0')}/`);
    return names.filter((name) => isRecordId(name));
  }
}

const unpack = promisify(zstdDecompress);

/** A tree as it is stored: its JSON repeats the same few names at each node, and shrinks to a tenth. */
async function* packTree(json: Pieces): AsyncGenerator<Uint8Array> {
  const packing = createZstdCompress();
  const end = pipeline(json, packing);
  // An error of the body comes out of `packing` too.
  end.catch(() => undefined);
  yield* packing;
  await end;
}

/** A stored tree as the JSON that came, with its size. It is read here, and closed. */
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
