import { sql, type RawBuilder } from 'kysely';

import type { RecordList } from './record-list.ts';

/** What is true of the rows of `record` that are in a list; each combination has an index that goes on with cell and ID. */
export function listConditions({ ownerId, automationId, tag }: RecordList): RawBuilder<unknown> {
  const conditions = [sql`owner_id = ${ownerId}`];
  if (automationId !== null) conditions.push(sql`automation_id = ${automationId}`);
  if (tag !== null) conditions.push(sql`tag = ${tag}`);
  return sql.join(conditions, sql` and `);
}

/** Rows of values; SQLite and PostgreSQL name the columns `column1`, `column2`, … */
export const valuesOf = (rows: readonly (readonly (string | number)[])[]): RawBuilder<unknown> =>
  sql`values ${sql.join(rows.map((row) => sql`(${sql.join(row)})`))}`;
