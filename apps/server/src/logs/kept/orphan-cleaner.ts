import { type FolderChunks, partCount } from './folder-chunks.ts';
import type { KeptLogs } from './kept-logs.ts';

interface Options {
  chunks: FolderChunks;
  kept: KeptLogs;
  listExisting: (runIds: readonly string[]) => Promise<readonly { id: string }[]>;
}

/** Deletes the logs of runs that are gone, a part of them at a time: what a crash, or a user's end, has left behind. */
export class OrphanCleaner {
  readonly #options: Options;
  #part = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  async cleanNextPart(): Promise<void> {
    const { chunks, kept, listExisting } = this.#options;
    const runIds = await chunks.listPart(this.#part);
    this.#part = (this.#part + 1) % partCount;
    if (runIds.length === 0) return;
    const existing = new Set((await listExisting(runIds)).map(({ id }) => id));
    await kept.delete(runIds.filter((id) => !existing.has(id)));
  }
}
