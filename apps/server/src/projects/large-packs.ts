import { createReadStream } from 'node:fs';

/** What takes more is not stored in a row of the database. */
export const maxRowBytes = 256 * 1024;

export const indexEnd = '.idx';

/** Of a pack and its index, below the place of large packs. */
export const largePackPaths = (key: string): string[] => [key, key + indexEnd];

export interface StoredLarge {
  readonly hash: string;
  readonly sizeBytes: number;
  /** `<project>/<name>` */
  readonly key: string;
}

export type PackPieces = AsyncIterable<Buffer> | Iterable<Buffer>;

/** Of a pack: its SHA-1, and what git reads beside it. */
export interface PackIndex {
  readonly hash: string;
  readonly index: Buffer;
}

/**
 * Packs that are too large for the database: in a folder, or in a bucket of S3. One is written before its row, and removed
 * later than that, so that whoever has a row finds its pack.
 */
export interface LargePacks {
  /** It lasts when it resolves. `index` is asked for when all pieces were taken. */
  put(projectId: string, pieces: PackPieces, index: () => PackIndex): Promise<StoredLarge>;
  /** Copies pack and index to these new files. Throws an error with the code `ENOENT` when one is missing. */
  copy(key: string, to: { pack: string; index: string }): Promise<void>;
  remove(key: string): Promise<void>;
  /** All keys, some at a time. */
  list(): AsyncGenerator<string[]>;
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
