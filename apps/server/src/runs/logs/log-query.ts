import { ApiError } from '../../kernel/errors/api-error.ts';
import { isUuidV7 } from '../../kernel/uuid-v7.ts';

/**
 * Size in bytes after which a reply ends early. The limit must not empty a reply: that would mean that there is nothing
 * newer.
 */
export const pageBytes = 4 * 1024 * 1024;

/**
 * Validates a cursor and returns the ID of the log entry after which to read; empty for all. `field` is the caller's
 * name of the parameter.
 */
export function cursorOf(from: string | undefined, field: string): string {
  if (from === undefined) return '';
  if (isUuidV7(from)) return from.toLowerCase();
  throw ApiError.of('invalid_request', { problem: `${field} must be the id of a log entry (a UUIDv7)` });
}
