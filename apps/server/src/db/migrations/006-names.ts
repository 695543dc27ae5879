import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

import { nameKey } from '../name-key.ts';

interface Named {
  id: string;
  name: string;
  /** Names are unique among the rows of one scope. */
  scope: string;
}

/** The oldest keeps its name; the others get a number. */
function renamed(rows: readonly Named[]): Named[] {
  const taken = new Set<string>();
  const keyOf = ({ scope }: Named, name: string): string => `${scope} ${nameKey(name)}`;
  return rows.map((row) => {
    const base = row.name.trim() === '' ? 'unnamed' : row.name.trim();
    let name = base;
    for (let number = 2; taken.has(keyOf(row, name)); number += 1) name = `${base} ${number}`;
    taken.add(keyOf(row, name));
    return { ...row, name };
  });
}

async function makeUnique(db: Kysely<unknown>, table: 'user' | 'project', scope: string): Promise<void> {
  await db.schema
    .alterTable(table)
    .addColumn('name_key', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  const { rows } = await sql<Named>`
    SELECT id, name, ${sql.raw(scope)} AS scope FROM ${sql.table(table)} ORDER BY id`.execute(db);
  for (const { id, name } of renamed(rows)) {
    await sql`UPDATE ${sql.table(table)} SET name = ${name}, name_key = ${nameKey(name)} WHERE id = ${id}`.execute(
      db,
    );
  }
}

/** Names are unique in any letter case, users can be disabled, and a token knows which one it was made with. */
export const nameTables: Migration = {
  async up(db) {
    await makeUnique(db, 'user', "''");
    await makeUnique(db, 'project', 'owner_id');
    await db.schema.createIndex('user_name').unique().on('user').column('name_key').execute();
    await db.schema
      .createIndex('project_name')
      .unique()
      .on('project')
      .columns(['owner_id', 'name_key'])
      .execute();
    await db.schema.alterTable('user').addColumn('disabled_at', 'bigint').execute();
    await db.schema
      .alterTable('token')
      .addColumn('parent_id', 'text', (column) => column.references('token.id').onDelete('cascade'))
      .execute();
    await db.schema.createIndex('token_parent').on('token').column('parent_id').execute();
  },
};
