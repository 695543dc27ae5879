import { errorCodeOf } from '../errors/error-code.ts';

/** SQLite's and PostgreSQL's. */
const codes: ReadonlySet<string> = new Set([
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  '23505',
]);

/** Whether the database refused a row because another one has its unique value. */
export const isUniqueViolation = (error: unknown): boolean => codes.has(errorCodeOf(error));
