import { type Captures, partCount, type RecordDeletions } from './captures.ts';

interface Options extends RecordDeletions {
  captures: Captures;
}

const deletionsPerStep = 100;
/** SQLite takes 32,766 values a statement. */
const idsPerQuestion = 1000;

/**
 * Deletes the captures of records that are gone, and the files of runs. The record goes first, with a note of what is left to do in the same
 * transaction, so that a crash leaves work to do and never a record without its captures.
 */
export class CaptureCleaner {
  readonly #options: Options;
  #part = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Does all deletions that are noted. */
  async clean(): Promise<void> {
    const { captures, listDeletions, endDeletion } = this.#options;
    for (let count = deletionsPerStep; count === deletionsPerStep;) {
      const recordIds = await listDeletions(deletionsPerStep);
      for (const recordId of recordIds) {
        await captures.deleteRecord(recordId);
        await endDeletion(recordId);
      }
      count = recordIds.length;
    }
  }

  /**
   * Looks through one part of the captures, and deletes those of no record and no run. A process leaves one when it is
   * killed between keeping a capture and noting it while the record is deleted.
   */
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
