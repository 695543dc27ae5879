import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

import { isPostgres } from '../dialect.ts';
import { createTrigger } from '../triggers.ts';

/** What servers tell each other that they know by heart, leases of phones, and links that sign in. */
export const sharedChanges: Migration = {
  async up(db) {
    await db.schema
      .createTable('sign_in_link')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('token_id', 'text', (column) => column.notNull().references('token.id').onDelete('cascade'))
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    if (!isPostgres(db)) return;
    const text = sql`text collate "C" NOT NULL`;
    await sql`ALTER TABLE installation ADD COLUMN url_key text`.execute(db);
    await sql`CREATE TABLE device_lease (device_id ${text} PRIMARY KEY REFERENCES device (id) ON DELETE CASCADE,
      user_id ${text} REFERENCES "user" (id) ON DELETE CASCADE, since bigint NOT NULL, duration_ms bigint NOT NULL,
      expires_at bigint NOT NULL)`.execute(db);
    await sql`CREATE TABLE shared_change (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name ${text},
      at timestamptz NOT NULL DEFAULT clock_timestamp())`.execute(db);
    for (const [thing, ...events] of [
      ['access', 'delete on token', 'update of name, role, disabled_at on "user"', 'delete on "user"'],
      ['shares', 'insert or update or delete on share', 'insert or update of name or delete on "user"'],
      ['people', 'insert or update or delete on project_member', 'update of owner_id or delete on project'],
      ['leases', 'insert or update or delete on device_lease'],
    ] as const)
      for (const [no, event] of events.entries())
        await createTrigger(db, {
          name: `shared_change_${thing}_${no}`,
          on: `after ${event}`,
          statement: `insert into shared_change (name) values ('${thing}')`,
        });
  },
};
