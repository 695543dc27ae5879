import { logWindowMs } from '@phalanx/protocol';

import { ApiError } from '../../kernel/errors/api-error.ts';
import { isUuidV7 } from '../../kernel/uuid-v7.ts';
import { entrySeparator, idOfEntry, timestampOfEntry, type StoredBatch } from './log-batch.ts';

/** Size after which a reply ends early. An empty reply would mean that there is nothing newer. */
export const pageBytes = 4 * 1024 * 1024;

export interface LogQuery {
  deviceId: string;
  automationIds: readonly string[];
  /** ID of the entry after which entries are wanted; empty for all. */
  from: string;
  nowMs: number;
}

/** JSON text of entries, joined by commas, with their number. */
export interface LogPiece {
  text: Buffer;
  count: number;
  /** The same as the body of a reply, where there is one. */
  reply?: Buffer;
}

/** Returns the entries of a batch that the query asks for, each as JSON. */
export function entriesOf(batch: StoredBatch, { from, nowMs }: LogQuery): string[] {
  const limit = nowMs - logWindowMs;
  return batch.entries
    .toString()
    .split(entrySeparator)
    .filter((entry) => idOfEntry(entry) > from && timestampOfEntry(entry) > limit);
}

/** Index of the first batch with entries after `from`. */
export function firstAfter(stream: readonly StoredBatch[], from: string): number {
  let low = 0;
  let high = stream.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stream[middle]?.last_id ?? '') > from) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the log ID after which entries are wanted; empty for all. `field` is how the caller names it. */
export function cursorOf(from: string | undefined, field: string): string {
  if (from === undefined) return '';
  if (isUuidV7(from)) return from.toLowerCase();
  throw ApiError.of('invalid_request', { problem: `${field} must be the id of a log entry (a UUIDv7)` });
}
