import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { BlobMissing, type BlobStore } from '../../../storage/blobs/blob-store.ts';
import type { NewObjects } from '../../git/draft.ts';
import { buildPack, PackWriter, type Pack } from '../../git/pack.ts';
import type { LoggedPack } from './pack-log-store.ts';

/** Maximum size of a pack that is stored in a database row. */
const maxRowBytes = 256 * 1024;

/** Name of the blob store of large packs, in a data folder or in a bucket. */
export const largePacksName = 'project-packs';

const contentType = 'application/octet-stream';
const indexEnd = '.idx';

/** Returns the paths of a pack and its index, below the folder of large packs. */
export const largePackPaths = (key: string): string[] => [key, key + indexEnd];

interface StoredLarge {
  readonly hash: string;
  readonly sizeBytes: number;
  /** Key in the form `<project>/<name>`. */
  readonly key: string;
}

/** SHA-1 hash of a pack, and the index that git reads beside it. */
interface PackIndex {
  readonly hash: string;
  readonly index: Buffer;
}

/**
 * Store of packs that are too large for the database. A pack is written before its row and removed after it, so that
 * every row has its pack.
 */
export class LargePacks {
  readonly #blobs: BlobStore;

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /** Stores a pack. The pack is durable when the promise resolves. Calls `index` once all pieces were consumed. */
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

  /**
   * Copies a pack and its index to these new files. Throws an error with the code `ENOENT` when one of them is missing.
   */
  async copy(key: string, to: { pack: string; index: string }): Promise<void> {
    await this.#copyOne(key, to.pack);
    await this.#copyOne(key + indexEnd, to.index);
  }

  async remove(key: string): Promise<void> {
    await this.#blobs.delete(largePackPaths(key));
  }

  /** Lists all keys in batches. */
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

/** Reads a file in pieces. */
export async function* piecesOf(file: string): AsyncGenerator<Buffer> {
  for await (const piece of createReadStream(file)) if (Buffer.isBuffer(piece)) yield piece;
}

/** Maximum total size of objects that are packed in memory. */
const maxInMemoryBytes = 1024 * 1024;

const inRow = ({ hash, pack, index }: Pack): LoggedPack => ({
  hash,
  size_bytes: pack.length,
  large_key: null,
  pack,
  pack_index: index,
});

/** Packs new objects. Stores a large pack in the blob store. Undefined when there are no objects. */
export async function packOfObjects(
  large: LargePacks,
  projectId: string,
  objects: NewObjects,
): Promise<LoggedPack | undefined> {
  const list = objects.list();
  if (list.length === 0) return undefined;
  if (list.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > maxInMemoryBytes) {
    const writer = new PackWriter(list);
    return putLarge(large, projectId, {
      pieces: writer.pieces(),
      index: () => ({ hash: writer.hash, index: writer.index() }),
    });
  }
  const built = await buildPack(list);
  if (built.pack.length <= maxRowBytes) return inRow(built);
  return putLarge(large, projectId, { pieces: [built.pack], index: () => built });
}

/** Reads a pack that git has written, with the index beside it. Stores a large pack in the blob store. */
export async function packOfFile(large: LargePacks, projectId: string, file: string): Promise<LoggedPack> {
  const hash = /^pack-([0-9a-f]{40})\.pack$/.exec(path.basename(file))?.[1];
  if (hash === undefined) throw new Error(`${file} has not the name of a pack`);
  const index = await readFile(indexOf(file));
  if ((await stat(file)).size <= maxRowBytes) return inRow({ hash, pack: await readFile(file), index });
  return putLarge(large, projectId, { pieces: piecesOf(file), index: () => ({ hash, index }) });
}

export const indexOf = (packFile: string): string => packFile.replace(/\.pack$/, '.idx');

async function putLarge(
  large: LargePacks,
  projectId: string,
  {
    pieces,
    index,
  }: { pieces: AsyncIterable<Buffer> | Buffer[]; index: () => { hash: string; index: Buffer } },
): Promise<LoggedPack> {
  const { hash, sizeBytes, key } = await large.put(projectId, pieces, index);
  return { hash, size_bytes: sizeBytes, large_key: key, pack: null, pack_index: null };
}
