import { type Kysely, PostgresAdapter, sql, type RawBuilder, type SqlBool } from 'kysely';

import { errorCodeOf } from '../../kernel/errors/api-error.ts';
import { storable } from './storable-text.ts';

/**
 * Whether the database is PostgreSQL, not SQLite. Stores must not use it: differences between the engines are handled
 * here and in `transactions.ts`.
 */
export const isPostgres = <Tables>(db: Kysely<Tables>): boolean =>
  db.getExecutor().adapter instanceof PostgresAdapter;

type ColumnType = 'text' | 'bigint';
type Columns = Readonly<Record<string, ColumnType>>;
type RowOf<Given extends Columns> = { readonly [Name in keyof Given]: string | number | null };

/**
 * Builds a table of this name for `FROM` from any number of rows. The rows are one parameter, or one per column,
 * because engines allow only some ten thousand parameters.
 */
export function rowsAs<Tables, Given extends Columns>(
  db: Kysely<Tables>,
  table: string,
  columns: Given,
  rows: readonly RowOf<Given>[],
): RawBuilder<unknown> {
  const names = Object.keys(columns);
  if (isPostgres(db)) {
    const lists = names.map(
      (name) => sql`${rows.map((row) => row[name])}::${sql.raw(columns[name] ?? '')}[]`,
    );
    return sql`unnest(${sql.join(lists)}) AS ${sql.ref(table)} (${sql.join(names.map((name) => sql.ref(name)))})`;
  }
  // Use arrays, which SQLite parses in half the time of objects.
  const json = JSON.stringify(rows.map((row) => names.map((name) => storable(row[name]))));
  const values = names.map((name, place) => sql`value->>${sql.lit(place)} AS ${sql.ref(name)}`);
  return sql`(SELECT ${sql.join(values)} FROM json_each(${json})) AS ${sql.ref(table)}`;
}

/** Builds a list of any number of texts, for `IN`. */
export const textsIn = <Tables>(db: Kysely<Tables>, texts: readonly string[]): RawBuilder<string> =>
  isPostgres(db)
    ? sql`(SELECT unnest(${texts}::text[]))`
    : sql`(SELECT value FROM json_each(${JSON.stringify(texts.map(storable))}))`;

/** Builds a list of any number of integers, for `IN`. */
export const numbersIn = <Tables>(db: Kysely<Tables>, numbers: readonly number[]): RawBuilder<number> =>
  isPostgres(db)
    ? sql`(SELECT unnest(${numbers}::bigint[]))`
    : sql`(SELECT value FROM json_each(${JSON.stringify(numbers)}))`;

/** Error codes of unique violations in SQLite and PostgreSQL. */
const codes: ReadonlySet<string> = new Set([
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  '23505',
]);

/** Whether the error is a unique violation. */
export const isUniqueViolation = (error: unknown): boolean => codes.has(errorCodeOf(error));

/** Returns a key that is equal for names that look the same to people. It is stored in columns with a unique index. */
export const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase();

/**
 * Whether a text contains a part literally. Avoids `LIKE`, because SQLite needs time in proportion to the product of
 * both lengths: 6 s for 200 characters in 1,000 messages, which blocks the event loop.
 */
export const hasPart = <Tables>(
  db: Kysely<Tables>,
  text: RawBuilder<unknown>,
  part: RawBuilder<unknown>,
): RawBuilder<SqlBool> =>
  isPostgres(db) ? sql`strpos(${text}, ${part}) > 0` : sql`instr(${text}, ${part}) > 0`;
