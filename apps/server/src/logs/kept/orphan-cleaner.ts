import { partCount, type KeptLogs } from './kept-logs.ts';

/** Deletes the logs of runs that are gone, a part of them at a time: what a crash, or a user's end, has left behind. */
export class OrphanCleaner {
  readonly #kept: KeptLogs;
  readonly #listExisting: (runIds: readonly string[]) => Promise<readonly { id: string }[]>;
  #part = 0;

  constructor(
    kept: KeptLogs,
    listExisting: (runIds: readonly string[]) => Promise<readonly { id: string }[]>,
  ) {
    this.#kept = kept;
    this.#listExisting = listExisting;
  }

  async cleanNextPart(): Promise<void> {
    const runIds = await this.#kept.listPart(this.#part);
    this.#part = (this.#part + 1) % partCount;
    if (runIds.length === 0) return;
    const existing = new Set((await this.#listExisting(runIds)).map(({ id }) => id));
    await this.#kept.delete(runIds.filter((id) => !existing.has(id)));
  }
}
