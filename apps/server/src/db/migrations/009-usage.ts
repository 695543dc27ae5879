import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import { createTrigger } from '../triggers.ts';

interface Counted {
  table: 'record' | 'project';
  column: string;
  user: string;
  kind: string;
}

/** What a row takes is in the sum of its user from the moment it is stored until the row is gone. */
async function countBytes(db: Kysely<unknown>, { table, column, user, kind }: Counted): Promise<void> {
  await db.schema
    .alterTable(table)
    .addColumn(column, 'bigint', (definition) => definition.notNull().defaultTo(0))
    .execute();
  await createTrigger(db, {
    name: `${table}_bytes_change`,
    on: `after update of ${column} on ${table}`,
    statement: `insert into stored_bytes (user_id, kind, bytes)
      values (new.${user}, '${kind}', new.${column} - old.${column})
      on conflict (user_id, kind) do update set bytes = stored_bytes.bytes + excluded.bytes`,
  });
  await createTrigger(db, {
    name: `${table}_bytes_end`,
    on: `after delete on ${table}`,
    when: `old.${column} <> 0`,
    statement: `update stored_bytes set bytes = bytes - old.${column}
      where user_id = old.${user} and kind = '${kind}'`,
  });
}

/** What users have of what they may have. */
export const usageTables: Migration = {
  async up(db) {
    await db.schema
      .createTable('stored_bytes')
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('stored_bytes_key', ['user_id', 'kind'])
      .execute();
    await countBytes(db, { table: 'record', column: 'capture_bytes', user: 'user_id', kind: 'captures' });
    await countBytes(db, { table: 'project', column: 'size_bytes', user: 'owner_id', kind: 'projects' });
    await db.schema
      .createTable('host')
      .addColumn('owner_id', 'text', (column) => column.notNull().references('user.id').onDelete('cascade'))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('token_id', 'text', (column) => column.references('token.id').onDelete('set null'))
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('host_key', ['owner_id', 'id'])
      .execute();
    await db.schema.createIndex('host_token').on('host').column('token_id').execute();
    await db.schema.createIndex('device_host').on('device').columns(['owner_id', 'host_id']).execute();
  },
};
