import { constants, copyFile, link, mkdir } from 'node:fs/promises';
import path from 'node:path';

import { errorCodeOf } from '../error-code.ts';
import type { StoredFile } from './stored-files.ts';

/** What file systems say that can't link. */
const cannotLink = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

/** Gathers files of the data folder in a folder of its own, where nobody deletes them. */
export class Staging {
  readonly #dataDir: string;
  readonly #folder: string;
  readonly #staged = new Set<string>();

  constructor(dataDir: string, folder: string) {
    this.#dataDir = dataDir;
    this.#folder = folder;
  }

  /** Returns the paths of needed files that are not there. Call it again with what rows name now. */
  async take(files: AsyncIterable<StoredFile> | Iterable<StoredFile>): Promise<string[]> {
    const missing: string[] = [];
    for await (const file of files) {
      if (this.#staged.has(file.path)) continue;
      if (await this.#takeOne(file)) this.#staged.add(file.path);
      else if (file.isNeeded) missing.push(file.path);
    }
    return missing;
  }

  /** False when it is not there. */
  async #takeOne({ path: name, isFinal }: StoredFile): Promise<boolean> {
    const from = path.join(this.#dataDir, name);
    const to = path.join(this.#folder, name);
    await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
    try {
      await (isFinal ? linkOrCopy(from, to) : copyFile(from, to, constants.COPYFILE_FICLONE));
      return true;
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return false;
      throw error;
    }
  }
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(async (error: unknown) => {
    if (!cannotLink.has(errorCodeOf(error))) throw error;
    await copyFile(from, to);
  });
}
