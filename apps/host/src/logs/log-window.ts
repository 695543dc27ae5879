import { maxLogEntriesPerFrame } from '@phalanx/protocol';

/** Rough cost of an entry beside its text, in bytes, so that a million empty lines count too. */
const entryOverheadBytes = 32;

export function sizeOf(entry: string): number {
  return Buffer.byteLength(entry) + entryOverheadBytes;
}

/** The encoded entries of a run that the server has not stored yet, in order of their numbers. */
export class LogWindow {
  #entries: string[] = [];
  /** Entries at the front of the array that are gone: moving the rest at every step would cost too much. */
  #goneCount = 0;
  #firstSeq = 1;
  #sizeBytes = 0;

  /** Number of the newest entry that ever was in the window; 0 when there was none. */
  get lastSeq(): number {
    return this.#firstSeq + this.#entries.length - this.#goneCount - 1;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Returns the number of the entry. */
  push(entry: string): number {
    this.#entries.push(entry);
    this.#sizeBytes += sizeOf(entry);
    return this.lastSeq;
  }

  /** The entries from number `seq` on that fit into one frame; at least one if there is one. */
  slice(seq: number, maxBytes: number): string[] {
    const start = this.#goneCount + seq - this.#firstSeq;
    let end = start;
    let sizeBytes = 0;
    for (; end < this.#entries.length && end - start < maxLogEntriesPerFrame; end += 1) {
      sizeBytes += Buffer.byteLength(this.#entries[end] ?? '');
      if (sizeBytes > maxBytes && end > start) break;
    }
    return this.#entries.slice(start, end);
  }

  /** Forgets the entries up to number `seq`. A number beyond the last one moves the numbering on. */
  trim(seq: number): void {
    for (; this.#firstSeq <= seq && this.#goneCount < this.#entries.length; this.#firstSeq += 1) {
      this.#sizeBytes -= sizeOf(this.#entries[this.#goneCount] ?? '');
      this.#entries[this.#goneCount] = '';
      this.#goneCount += 1;
    }
    this.#firstSeq = Math.max(this.#firstSeq, seq + 1);
    if (this.#goneCount * 2 >= this.#entries.length) {
      this.#entries = this.#entries.slice(this.#goneCount);
      this.#goneCount = 0;
    }
  }
}
