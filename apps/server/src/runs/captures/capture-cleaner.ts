import { type Captures, type KnownOwners, partCount } from './captures.ts';

interface Options extends KnownOwners {
  captures: Captures;
}

/** SQLite takes 32,766 values a statement. */
const idsPerQuestion = 1000;

/**
 * Deletes captures of no record and no run. A process leaves one when it is killed between keeping a capture and noting
 * it while the record is deleted.
 */
export class CaptureCleaner {
  readonly #options: Options;
  #part = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Looks through one part of the captures. */
  async cleanNextPart(): Promise<void> {
    const { captures, listKnown } = this.#options;
    const recordIds = await captures.listRecords(this.#part);
    this.#part = (this.#part + 1) % partCount;
    for (let first = 0; first < recordIds.length; first += idsPerQuestion) {
      const some = recordIds.slice(first, first + idsPerQuestion);
      const known = await listKnown(some);
      for (const recordId of some) if (!known.has(recordId)) await captures.deleteRecord(recordId);
    }
  }
}
