import { type Captures, type KnownOwners, partCount } from './captures.ts';

interface Options extends KnownOwners {
  captures: Captures;
}

/** Number of record IDs per query. SQLite allows 32,766 values per statement. */
const idsPerQuestion = 1000;

/**
 * Deletes orphaned captures: those of no record and no run. A process leaves one behind when it is killed after storing
 * a capture and before noting it, while the record is deleted.
 */
export class CaptureCleaner {
  readonly #options: Options;
  #part = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Cleans the next of the `partCount` parts of the captures. */
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
