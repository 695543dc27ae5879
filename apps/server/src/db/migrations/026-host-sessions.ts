import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

import { isPostgres } from '../dialect.ts';

/** Servers that are alive, and the newest connection of each host. */
export const hostSessions: Migration = {
  async up(db) {
    await db.schema
      .createTable('node')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('started_at', 'bigint', (column) => column.notNull())
      .addColumn('lease_until', 'bigint')
      .execute();
    await db.schema
      .createTable('host_session')
      .addColumn('epoch', isPostgres(db) ? 'bigint' : 'integer', (column) => {
        const key = column.primaryKey();
        return isPostgres(db) ? key.generatedByDefaultAsIdentity() : key.autoIncrement();
      })
      .addColumn('owner_id', 'text', (column) => column.notNull().references('user.id').onDelete('cascade'))
      .addColumn('host_id', 'text', (column) => column.notNull())
      .addColumn('node_id', 'text', (column) => column.references('node.id').onDelete('set null'))
      .addColumn('opened_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .addUniqueConstraint('host_session_host', ['owner_id', 'host_id'])
      .execute();
    // Hosts of an older release whose runs have not ended: they were connected to a server that is gone.
    await sql`insert into host_session (owner_id, host_id, opened_at)
      select distinct device_owner_id, lower(host_id), 0 from run
      where ended_at is null and device_owner_id in (select id from ${sql.table('user')})`.execute(db);
  },
};
