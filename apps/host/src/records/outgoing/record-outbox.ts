import type { Logger } from 'pino';

import { RecordFolder } from './record-folder.ts';
import type { RecordLimits } from '../record-limits.ts';
import type { OutgoingRecord } from './outgoing-record.ts';

export interface RecordOutboxOptions {
  dir: string;
  limits: Pick<RecordLimits, 'totalDiskBytes' | 'totalRecords'>;
  log: Logger;
}

/** The records on disk that the server has not taken yet. When they become too many, the oldest is dropped. */
export class RecordOutbox {
  readonly folder: RecordFolder;
  readonly #limits: RecordOutboxOptions['limits'];
  readonly #log: Logger;
  /** Bytes of each record, oldest first. */
  readonly #sizes = new Map<string, number>();
  #usedBytes = 0;

  constructor({ dir, limits, log }: RecordOutboxOptions) {
    this.folder = new RecordFolder(dir);
    this.#limits = limits;
    this.#log = log;
  }

  has(recordId: string): boolean {
    return this.#sizes.has(recordId);
  }

  /** Takes up what an earlier life of the host has left. Gives the IDs, oldest first. */
  async recover(): Promise<string[]> {
    for (const id of await this.folder.recover()) this.#note(id, await this.folder.sizeOf(id));
    await this.#dropOldest();
    return [...this.#sizes.keys()];
  }

  /** Resolves with the record's size when it is safely on disk. */
  async put(outgoing: OutgoingRecord): Promise<number> {
    const id = outgoing.report.record_id;
    await this.folder.write(outgoing);
    const sizeBytes = await this.folder.sizeOf(id);
    this.#note(id, sizeBytes);
    await this.#dropOldest();
    return sizeBytes;
  }

  async remove(recordId: string): Promise<void> {
    this.#usedBytes -= this.#sizes.get(recordId) ?? 0;
    this.#sizes.delete(recordId);
    await this.folder.remove(recordId);
  }

  #note(id: string, sizeBytes: number): void {
    this.#sizes.set(id, sizeBytes);
    this.#usedBytes += sizeBytes;
  }

  async #dropOldest(): Promise<void> {
    const { totalDiskBytes, totalRecords } = this.#limits;
    while (this.#usedBytes > totalDiskBytes || this.#sizes.size > totalRecords) {
      const [oldest] = this.#sizes.keys();
      if (oldest === undefined) return;
      this.#log.warn(
        { recordId: oldest, waitingBytes: this.#usedBytes, waitingRecords: this.#sizes.size },
        'Too many records wait for the server: the oldest one was dropped',
      );
      await this.remove(oldest);
    }
  }
}
