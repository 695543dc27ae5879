import { ApiError } from '../../kernel/errors/api-error.ts';
import { isUuidV7 } from '../../kernel/uuid-v7.ts';

/** Size after which a reply ends early. An empty reply would mean that there is nothing newer. */
export const pageBytes = 4 * 1024 * 1024;

/** Returns the log ID after which entries are wanted; empty for all. `field` is how the caller names it. */
export function cursorOf(from: string | undefined, field: string): string {
  if (from === undefined) return '';
  if (isUuidV7(from)) return from.toLowerCase();
  throw ApiError.of('invalid_request', { problem: `${field} must be the id of a log entry (a UUIDv7)` });
}
