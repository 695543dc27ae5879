import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

import { BlobMissing, type BlobStore } from '../../blobs/blob-store.ts';

/** What takes more is not stored in a row of the database. */
export const maxRowBytes = 256 * 1024;

/** The name of the blobs of large packs, in a data folder and in a bucket. */
export const largePacksName = 'project-packs';

const contentType = 'application/octet-stream';
const indexEnd = '.idx';

/** Of a pack and its index, below the place of large packs. */
export const largePackPaths = (key: string): string[] => [key, key + indexEnd];

interface StoredLarge {
  readonly hash: string;
  readonly sizeBytes: number;
  /** `<project>/<name>` */
  readonly key: string;
}

/** Of a pack: its SHA-1, and what git reads beside it. */
interface PackIndex {
  readonly hash: string;
  readonly index: Buffer;
}

/** Packs that are too large for the database. One is written before its row and removed after it, so a row has its pack. */
export class LargePacks {
  readonly #blobs: BlobStore;

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /** It lasts when it resolves. `index` is asked for when all pieces were taken. */
  async put(
    projectId: string,
    pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
    index: () => PackIndex,
  ): Promise<StoredLarge> {
    const key = `${projectId}/${randomUUID()}`;
    const pack = await this.#blobs.receive(pieces);
    try {
      const { hash, index: bytes } = index();
      const received = await this.#blobs.receive([bytes]);
      await received.keep(key + indexEnd, contentType);
      await pack.keep(key, contentType);
      return { hash, sizeBytes: pack.sizeBytes, key };
    } catch (error) {
      await pack.discard();
      throw error;
    }
  }

  /** Copies pack and index to these new files. Throws an error with the code `ENOENT` when one is missing. */
  async copy(key: string, to: { pack: string; index: string }): Promise<void> {
    await this.#copyOne(key, to.pack);
    await this.#copyOne(key + indexEnd, to.index);
  }

  async remove(key: string): Promise<void> {
    await this.#blobs.delete(largePackPaths(key));
  }

  /** All keys, some at a time. */
  async *list(): AsyncGenerator<string[]> {
    for await (const keys of this.#blobs.listKeys())
      yield [...new Set(keys.map((key) => (key.endsWith(indexEnd) ? key.slice(0, -indexEnd.length) : key)))];
  }

  async #copyOne(key: string, file: string): Promise<void> {
    const stream = await this.#blobs.read(key);
    if (stream === undefined) throw new BlobMissing(key);
    await pipeline(stream, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  }
}

/** The pieces of a file. */
export async function* piecesOf(file: string): AsyncGenerator<Buffer> {
  for await (const piece of createReadStream(file)) if (Buffer.isBuffer(piece)) yield piece;
}

/** A backup that was begun before a pack's row went finds the pack for so long. */
const keptMs = 7 * 24 * 60 * 60 * 1000;

interface Removals {
  listRemovable(until: number): Promise<string[]>;
  forgetRemoved(key: string): Promise<void>;
}

export async function sweepLargePacks(packs: LargePacks, removals: Removals, now: number): Promise<void> {
  for (const key of await removals.listRemovable(now - keptMs)) {
    await packs.remove(key);
    await removals.forgetRemoved(key);
  }
}
