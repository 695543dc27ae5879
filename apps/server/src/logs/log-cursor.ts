import { ApiError } from '../errors/api-error.ts';
import { isUuidV7 } from '../uuid-v7.ts';

/** The log ID after which entries are wanted; empty for all. `field` is how the caller names it. */
export function cursorOf(from: string | undefined, field: string): string {
  if (from === undefined) return '';
  if (isUuidV7(from)) return from.toLowerCase();
  throw ApiError.of('invalid_request', { problem: `${field} must be the id of a log entry (a UUIDv7)` });
}
