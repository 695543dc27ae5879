import { errorCodeOf } from '../errors/error-code.ts';

/** SQLite's and PostgreSQL's. */
const codes: ReadonlySet<string> = new Set([
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  '23505',
]);

/** Whether the database refused a row because another one has its unique value. */
export const isUniqueViolation = (error: unknown): boolean => codes.has(errorCodeOf(error));

/** What two names have in common when people would take them for the same. Stored in columns with a unique index. */
export const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase();

/** The condition's value for a part of a name, for `LIKE … ESCAPE '\'`. */
export const namePattern = (part: string): string =>
  `%${nameKey(part).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
