import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, rmdir, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { errorCodeOf } from '../../kernel/errors/api-error.ts';
import { folderMissing, PartFailed } from '../../kernel/faults/fault-monitor.ts';
import { syncFolder, writeSynced } from './synced-files.ts';
import type { BlobStore, Pieces, ReceivedBlob, StoredBlob } from './blob-store.ts';

const incomingName = 'incoming';
/** A folder that has just become empty may be removed while a blob is moved into it. */
const moveTries = 3;

/** Blobs as files below a folder. */
export class FolderBlobs implements BlobStore {
  readonly #folder: string;
  readonly #incoming: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#incoming = path.join(folder, incomingName);
  }

  /** Opens blobs to read, while a server may be writing. */
  static at(folder: string): FolderBlobs {
    return new FolderBlobs(folder);
  }

  /** Opens the folder to write to. Removes incomplete bodies of an earlier process. */
  static async open(folder: string): Promise<FolderBlobs> {
    const blobs = new FolderBlobs(folder);
    await rm(blobs.#incoming, { recursive: true, force: true });
    await mkdir(blobs.#incoming, { recursive: true, mode: 0o700 });
    return blobs;
  }

  async receive(body: Pieces): Promise<ReceivedBlob> {
    const file = path.join(this.#incoming, randomUUID());
    const discard = () => rm(file, { force: true });
    try {
      const sizeBytes = await writeSynced(file, body);
      return { sizeBytes, discard, keep: (key) => this.#keep(file, key) };
    } catch (error) {
      await discard();
      throw asFault(error);
    }
  }

  async find(key: string): Promise<StoredBlob | undefined> {
    try {
      const handle = await open(path.join(this.#folder, key), 'r');
      return await describe(handle).catch(async (error: unknown) => {
        await handle.close();
        throw error;
      });
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async read(key: string): Promise<Readable | undefined> {
    return (await this.find(key))?.read();
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const file = path.join(this.#folder, key);
      await rm(file, { force: true });
      // Removing the folder fails while it has other blobs.
      if (path.dirname(key) !== '.') await rmdir(path.dirname(file)).catch(() => undefined);
    }
  }

  async deleteBelow(prefix: string): Promise<void> {
    await rm(path.join(this.#folder, prefix), { recursive: true, force: true });
  }

  async listFolders(prefix: string): Promise<string[]> {
    const entries = await this.#list(prefix);
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    return prefix === '' ? folders.filter((name) => name !== incomingName) : folders;
  }

  async *listKeys(prefix = ''): AsyncGenerator<string[]> {
    const entries = await this.#list(prefix);
    const keys = entries.filter((entry) => entry.isFile()).map(({ name }) => prefix + name);
    if (keys.length > 0) yield keys;
    for (const folder of await this.listFolders(prefix)) yield* this.listKeys(`${prefix}${folder}/`);
  }

  async #keep(file: string, key: string): Promise<void> {
    try {
      for (let tries = 1; ; tries += 1) {
        const firstNew = await mkdir(path.dirname(path.join(this.#folder, key)), {
          recursive: true,
          mode: 0o700,
        });
        try {
          await rename(file, path.join(this.#folder, key));
          await this.#sync(path.dirname(path.join(this.#folder, key)), firstNew);
          return;
        } catch (error) {
          if (tries === moveTries || errorCodeOf(error) !== 'ENOENT') throw error;
        }
      }
    } catch (error) {
      await rm(file, { force: true });
      throw asFault(error);
    }
  }

  /** `firstNew`: the outermost folder that was created. */
  async #sync(folder: string, firstNew: string | undefined): Promise<void> {
    await syncFolder(folder);
    if (firstNew === undefined) return;
    for (let one = folder; one !== path.dirname(firstNew); one = path.dirname(one))
      await syncFolder(path.dirname(one));
  }

  async #list(prefix: string) {
    try {
      return await readdir(path.join(this.#folder, prefix), { withFileTypes: true });
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }
}

async function describe(handle: FileHandle): Promise<StoredBlob> {
  const { size, mtimeMs } = await handle.stat();
  return {
    sizeBytes: size,
    version: `${size.toString(36)}-${Math.trunc(mtimeMs).toString(36)}`,
    // The stream closes the handle.
    read: (span) => handle.createReadStream(span === undefined ? {} : { start: span.first, end: span.last }),
    close: () => handle.close(),
  };
}

/** The folder of a store was there at the start. */
const asFault = (error: unknown): unknown =>
  errorCodeOf(error) === 'ENOENT' ? new PartFailed(folderMissing, { cause: error }) : error;
