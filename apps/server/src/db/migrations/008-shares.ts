import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const shareTables: Migration = {
  async up(db) {
    await db.schema
      .createTable('share')
      .addColumn('owner_id', 'text', (column) => column.notNull().references('user.id').onDelete('cascade'))
      // A phone, or all phones of a host.
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('target_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull().references('user.id').onDelete('cascade'))
      .addColumn('role', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('share_key', ['owner_id', 'kind', 'target_id', 'user_id'])
      .execute();
    await db.schema
      .alterTable('run')
      .addColumn('device_owner_id', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
    await sql`update run set device_owner_id = user_id`.execute(db);
    // The runs on phones of others are few: a start of the server reads of which phones.
    await sql`create index run_foreign on run (device_id) where user_id <> device_owner_id`.execute(db);
  },
};
