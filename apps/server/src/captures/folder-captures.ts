import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';

import { errorCodeOf } from '../error-code.ts';
import { folderMissing, PartFailed } from '../faults/fault.ts';
import { syncFolder } from '../sync-folder.ts';
import { writeSynced } from '../write-synced.ts';
import { capturePath, isRecordId, recordPath } from './capture-path.ts';
import type { CaptureKey, CaptureStore, ReceivedCapture, StoredCapture } from './capture-store.ts';

/** Captures in `folder`, sharded by the end of the record's ID: `captures/3f/<record>/<screen>.tree`. */
export class FolderCaptures implements CaptureStore {
  readonly #folder: string;
  readonly #incoming: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#incoming = path.join(folder, 'incoming');
  }

  /** What an earlier process left half received goes away. */
  static async open(folder: string): Promise<FolderCaptures> {
    const captures = new FolderCaptures(folder);
    await rm(captures.#incoming, { recursive: true, force: true });
    await mkdir(captures.#incoming, { recursive: true, mode: 0o700 });
    return captures;
  }

  async receive(body: AsyncIterable<Uint8Array>): Promise<ReceivedCapture> {
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

  async find(key: CaptureKey): Promise<StoredCapture | undefined> {
    try {
      const handle = await open(this.#fileOf(key), 'r');
      return await describe(handle).catch(async (error: unknown) => {
        await handle.close();
        throw error;
      });
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async deleteRecord(id: string): Promise<void> {
    await rm(this.#folderOf(id), { recursive: true, force: true });
  }

  async listRecords(part: number): Promise<string[]> {
    const shard = path.join(this.#folder, part.toString(16).padStart(2, '0'));
    try {
      return (await readdir(shard)).filter((name) => isRecordId(name));
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  async #keep(file: string, key: CaptureKey): Promise<void> {
    const folder = this.#folderOf(key.recordId);
    try {
      const firstNew = await mkdir(folder, { recursive: true, mode: 0o700 });
      await rename(file, this.#fileOf(key));
      await syncFolder(folder);
      if (firstNew !== undefined) await syncFolder(path.dirname(folder));
      if (firstNew !== undefined && firstNew !== folder) await syncFolder(this.#folder);
    } catch (error) {
      await rm(file, { force: true });
      throw asFault(error);
    }
  }

  #folderOf(recordId: string): string {
    return path.join(this.#folder, recordPath(recordId));
  }

  #fileOf(key: CaptureKey): string {
    return path.join(this.#folder, capturePath(key));
  }
}

async function describe(handle: FileHandle): Promise<StoredCapture> {
  const { size, mtimeMs } = await handle.stat();
  return {
    sizeBytes: size,
    version: `${size.toString(36)}-${Math.trunc(mtimeMs).toString(36)}`,
    // The stream closes the handle.
    read: (range) =>
      handle.createReadStream(range === undefined ? {} : { start: range.first, end: range.last }),
    close: () => handle.close(),
  };
}

/** Our own folder was there at the start. */
function asFault(error: unknown): unknown {
  return errorCodeOf(error) === 'ENOENT' ? new PartFailed(folderMissing, { cause: error }) : error;
}
