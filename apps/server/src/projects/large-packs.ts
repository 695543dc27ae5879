import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';

import { errorCodeOf } from '../error-code.ts';
import { folderMissing, PartFailed } from '../faults/fault.ts';
import { syncFolder } from '../sync-folder.ts';
import { writeSynced } from '../write-synced.ts';

/** What takes more is not stored in a row of the database. */
export const maxRowBytes = 256 * 1024;

const indexEnd = '.idx';

/** Of a pack and its index, below the folder of large packs. */
export const largePackPaths = (key: string): string[] => [key, key + indexEnd];

interface StoredLarge {
  readonly hash: string;
  readonly sizeBytes: number;
  readonly key: string;
}

/**
 * Packs that are too large for the database, in a folder for each project. One is written before its row, and removed
 * later than that, so that whoever has a row finds its pack.
 */
export class LargePacks {
  readonly #folder: string;
  readonly #incoming: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#incoming = path.join(folder, 'incoming');
  }

  /** To read in, beside a server that may be writing. */
  static at(folder: string): LargePacks {
    return new LargePacks(folder);
  }

  /** What an earlier process left half written goes away. */
  static async open(folder: string): Promise<LargePacks> {
    const packs = new LargePacks(folder);
    await rm(packs.#incoming, { recursive: true, force: true });
    await mkdir(packs.#incoming, { recursive: true, mode: 0o700 });
    return packs;
  }

  /** Safe on the disk when it resolves. `index` is asked for when all pieces were taken. */
  async put(
    projectId: string,
    pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
    index: () => { hash: string; index: Buffer },
  ): Promise<StoredLarge> {
    const name = randomUUID();
    const incoming = path.join(this.#incoming, name);
    try {
      const sizeBytes = await writeSynced(incoming, pieces);
      const { hash, index: bytes } = index();
      await writeSynced(incoming + indexEnd, [bytes]);
      const key = `${projectId}/${name}`;
      await this.#keep(incoming, key);
      return { hash, sizeBytes, key };
    } catch (error) {
      for (const file of [incoming, incoming + indexEnd]) await rm(file, { force: true });
      throw errorCodeOf(error) === 'ENOENT' ? new PartFailed(folderMissing, { cause: error }) : error;
    }
  }

  async #keep(incoming: string, key: string): Promise<void> {
    const kept = path.join(this.#folder, key);
    await mkdir(path.dirname(kept), { recursive: true, mode: 0o700 });
    for (const end of [indexEnd, '']) await rename(incoming + end, kept + end);
    await syncFolder(path.dirname(kept));
    await syncFolder(this.#folder);
  }

  /** Copies pack and index to these files. */
  async copy(key: string, to: { pack: string; index: string }): Promise<void> {
    await copyFile(path.join(this.#folder, key), to.pack);
    await copyFile(path.join(this.#folder, key) + indexEnd, to.index);
  }

  async remove(key: string): Promise<void> {
    for (const name of largePackPaths(key)) await rm(path.join(this.#folder, name), { force: true });
    // The folder of a project that has others stays.
    await rmdir(path.dirname(path.join(this.#folder, key))).catch(() => undefined);
  }

  /** The keys of one project after the other. */
  async *list(): AsyncGenerator<string[]> {
    for (const projectId of await readdir(this.#folder)) {
      if (projectId === 'incoming') continue;
      const names = await namesIn(path.join(this.#folder, projectId));
      yield [...new Set(names.map((name) => `${projectId}/${path.basename(name, indexEnd)}`))];
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw error;
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
