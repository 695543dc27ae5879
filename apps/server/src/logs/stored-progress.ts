import type { LRUCache } from 'lru-cache';
import { boundedCache } from '../bounded-cache.ts';

import type { IncreasingIds } from '../uuid-v7.ts';
import { encodeBatches, type IncomingEntries, type LogBatch } from './log-batch.ts';

/** The number of the last stored entry of each run that has logged lately. */
export type StoredProgress = LRUCache<string, number>;

export const createStoredProgress = (): StoredProgress => boundedCache<number>(200_000);

/** Entries that are not stored yet. */
export interface NewEntries {
  batches: LogBatch[];
  /** By run, the number of its last entry, once they are stored. */
  lastSeqs: ReadonlyMap<string, number>;
}

/** Gives the entries that are new their IDs, in the order of their arrival. */
export function selectNew(
  incoming: readonly IncomingEntries[],
  known: StoredProgress,
  { ids, nowMs }: { ids: IncreasingIds; nowMs: number },
): NewEntries {
  const lastSeqs = new Map<string, number>();
  const batches = incoming.flatMap(({ stream, firstSeq, entries }) => {
    const before = lastSeqs.get(stream.runId) ?? known.get(stream.runId) ?? 0;
    const lastSeq = firstSeq + entries.length - 1;
    if (lastSeq <= before) return [];
    lastSeqs.set(stream.runId, lastSeq);
    const fresh = entries.slice(Math.max(0, before + 1 - firstSeq));
    return encodeBatches(ids, nowMs, stream, { lastSeq, entries: fresh });
  });
  return { batches, lastSeqs };
}
