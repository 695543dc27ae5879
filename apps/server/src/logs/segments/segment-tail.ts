import type { StoredBatch } from '../log-batch.ts';
import { firstAfter } from '../log-query.ts';

/** A segment that grows beyond it is read from its file. */
const maxBytes = 4 * 1024 * 1024;

/** Copy in memory of a segment that is still small: most polls ask for what has just been stored. */
export class SegmentTail {
  readonly #streams = new Map<string, StoredBatch[]>();
  #bytes = 0;
  #isComplete: boolean;

  /** `isComplete`: the segment is empty so far. */
  constructor({ isComplete }: { isComplete: boolean }) {
    this.#isComplete = isComplete;
  }

  /** Whether everything of the segment is here. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  add(stored: readonly [streamKey: string, StoredBatch][]): void {
    if (!this.#isComplete) return;
    for (const [key, batch] of stored) {
      const stream = this.#streams.get(key);
      if (stream === undefined) this.#streams.set(key, [batch]);
      else stream.push(batch);
      this.#bytes += batch.entries.length;
    }
    if (this.#bytes > maxBytes) this.#giveUp();
  }

  /** The batches of a stream with entries after `from`, oldest first. */
  *read(key: string, from: string): Generator<StoredBatch, undefined> {
    const stream = this.#streams.get(key) ?? [];
    for (let index = firstAfter(stream, from); index < stream.length; index++) {
      const batch = stream[index];
      if (batch !== undefined) yield batch;
    }
  }

  #giveUp(): void {
    this.#isComplete = false;
    this.#streams.clear();
  }
}
