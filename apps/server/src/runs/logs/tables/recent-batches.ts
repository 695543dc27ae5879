import { LRUCache } from 'lru-cache';

import { type StoredBatch, type StreamKey, streamKeyOf } from '../log-batch.ts';

const maxBytes = 32 * 1024 * 1024;
/**
 * Limit per stream for its newest batches, in bytes: the reader of a long log must not evict batches that others
 * follow.
 */
const maxStreamBytes = 1024 * 1024;
/** Overhead of a batch in addition to its text, in bytes. */
const batchBytes = 300;

/** Batches of a stream without a gap. */
interface Tail {
  /** ID after which `batches` begin. They are complete from there to the last one. */
  readonly after: string;
  readonly batches: readonly StoredBatch[];
}

const sizeOf = ({ entries }: StoredBatch): number => entries.length + batchBytes;
const endOf = ({ after, batches }: Tail): string => batches.at(-1)?.last_id ?? after;

/**
 * Cache of the newest batches of the streams that are being read. Stored batches do not change, and streams only grow,
 * so a polling reader queries the database only for new batches.
 */
export class RecentBatches {
  readonly #tails = new LRUCache<string, Tail>({
    maxSize: maxBytes,
    sizeCalculation: ({ batches }) => batches.reduce((sum, batch) => sum + sizeOf(batch), batchBytes),
  });

  /** Finds the cached batches with entries after `from`, and the ID from which to continue in the database. */
  find(stream: StreamKey, from: string): { batches: readonly StoredBatch[]; upTo: string } {
    const tail = this.#tails.get(streamKeyOf(stream));
    if (tail === undefined || tail.after > from || endOf(tail) <= from) return { batches: [], upTo: from };
    return { batches: tail.batches.slice(firstAfter(tail.batches, from)), upTo: endOf(tail) };
  }

  /** Adds `batches`, which directly follow the ID `after`. */
  add(stream: StreamKey, after: string, batches: readonly StoredBatch[]): void {
    if (batches.length === 0) return;
    const key = streamKeyOf(stream);
    const tail = this.#tails.get(key);
    const isContinued = tail !== undefined && tail.after <= after && after <= endOf(tail);
    // A reader far back in a long log must not replace the cached end, which other readers follow.
    if (tail !== undefined && !isContinued && (batches.at(-1)?.last_id ?? '') < endOf(tail)) return;
    const next = isContinued
      ? { after: tail.after, batches: [...tail.batches, ...batches.slice(firstAfter(batches, endOf(tail)))] }
      : { after, batches };
    this.#tails.set(key, newestOf(next));
  }

  clear(): void {
    this.#tails.clear();
  }
}

function newestOf({ after, batches }: Tail): Tail {
  let first = batches.length;
  for (let room = maxStreamBytes; first > 0; first -= 1) {
    const batch = batches[first - 1];
    if (batch === undefined || sizeOf(batch) > room) break;
    room -= sizeOf(batch);
  }
  return { after: batches[first - 1]?.last_id ?? after, batches: batches.slice(first) };
}

/** Returns the index of the first batch with entries after `from`. */
function firstAfter(stream: readonly StoredBatch[], from: string): number {
  let low = 0;
  let high = stream.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stream[middle]?.last_id ?? '') > from) high = middle;
    else low = middle + 1;
  }
  return low;
}
