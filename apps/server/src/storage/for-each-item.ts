import { TimeSlice } from '../kernel/limits/time-slice.ts';
import type { Claim, WorkItem } from './db/work-queue.ts';

/**
 * Does the items of a claim one after the other, each with a claim of its own that `work` ends. The first error is thrown when
 * all have been tried, and the claim then has the items that failed.
 */
export async function forEachItem(
  claim: Claim,
  signal: AbortSignal,
  work: (item: WorkItem, own: Claim) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  const slice = new TimeSlice();
  for (const item of claim.items) {
    if (slice.isOver) await slice.next();
    signal.throwIfAborted();
    try {
      await work(item, { ...claim, items: [item] });
      claim.items = claim.items.filter((other) => other !== item);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
