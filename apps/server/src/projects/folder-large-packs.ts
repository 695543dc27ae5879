import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';

import { errorCodeOf } from '../error-code.ts';
import { folderMissing, PartFailed } from '../faults/fault.ts';
import { syncFolder } from '../sync-folder.ts';
import { writeSynced } from '../write-synced.ts';
import {
  indexEnd,
  type LargePacks,
  largePackPaths,
  type PackIndex,
  type PackPieces,
  type StoredLarge,
} from './large-packs.ts';

/** Large packs in a folder for each project. */
export class FolderLargePacks implements LargePacks {
  readonly #folder: string;
  readonly #incoming: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#incoming = path.join(folder, 'incoming');
  }

  /** To read in, beside a server that may be writing. */
  static at(folder: string): FolderLargePacks {
    return new FolderLargePacks(folder);
  }

  /** What an earlier process left half written goes away. */
  static async open(folder: string): Promise<FolderLargePacks> {
    const packs = new FolderLargePacks(folder);
    await rm(packs.#incoming, { recursive: true, force: true });
    await mkdir(packs.#incoming, { recursive: true, mode: 0o700 });
    return packs;
  }

  async put(projectId: string, pieces: PackPieces, index: () => PackIndex): Promise<StoredLarge> {
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

  async copy(key: string, to: { pack: string; index: string }): Promise<void> {
    await copyFile(path.join(this.#folder, key), to.pack);
    await copyFile(path.join(this.#folder, key) + indexEnd, to.index);
  }

  async remove(key: string): Promise<void> {
    for (const name of largePackPaths(key)) await rm(path.join(this.#folder, name), { force: true });
    // The folder of a project that has others stays.
    await rmdir(path.dirname(path.join(this.#folder, key))).catch(() => undefined);
  }

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
