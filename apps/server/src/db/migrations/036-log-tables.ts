import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

import { isPostgres } from '../dialect.ts';

/** As many as `logs/tables` knows: it was sixteen when this was released. */
const tables = 16;

/** Log entries and kept logs in PostgreSQL. Beside SQLite they are files, so that storing them holds up nothing else. */
export const logTables: Migration = {
  async up(db) {
    if (!isPostgres(db)) return;
    await db.schema
      .createTable('log_table')
      .addColumn('slot', 'integer', (column) => column.primaryKey())
      .addColumn('no', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('begun_at', 'bigint', (column) => column.notNull())
      .addColumn('newest', 'bigint', (column) => column.notNull())
      .addColumn('last_id', 'text', (column) => column.notNull())
      .execute();
    for (let slot = 0; slot < tables; slot += 1) {
      const name = `log_${slot}`;
      await db.schema
        .createTable(name)
        .addColumn('device_id', 'text', (column) => column.notNull())
        .addColumn('automation_id', 'text', (column) => column.notNull())
        .addColumn('last_id', 'text', (column) => column.notNull())
        .addColumn('first_id', 'text', (column) => column.notNull())
        .addColumn('last_seq', 'bigint', (column) => column.notNull())
        .addColumn('oldest', 'bigint', (column) => column.notNull())
        .addColumn('newest', 'bigint', (column) => column.notNull())
        .addColumn('count', 'integer', (column) => column.notNull())
        .addColumn('entries', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint(`${name}_key`, ['device_id', 'automation_id', 'last_id'])
        .execute();
      // It is emptied as a whole, and what it holds is read by its key alone.
      await sql`ALTER TABLE ${sql.table(name)} SET (autovacuum_enabled = false, toast.autovacuum_enabled = false)`.execute(
        db,
      );
      const row = { slot, no: 0, state: 'empty', begun_at: 0, newest: 0, last_id: '' };
      await db.insertInto('log_table').values(row).execute();
    }
    const ofRun = sql`text collate "C" NOT NULL REFERENCES run (id) ON DELETE CASCADE`;
    // Room in each page for the next version of a row, so that no index changes with it.
    await sql`CREATE TABLE log_progress (run_id ${ofRun} PRIMARY KEY, seq bigint NOT NULL) WITH (fillfactor = 70)`.execute(
      db,
    );
    await sql`CREATE TABLE kept_chunk (run_id ${ofRun}, first bigint NOT NULL, header text collate "C" NOT NULL,
      size_bytes bigint NOT NULL, packed bytea NOT NULL, PRIMARY KEY (run_id, first))`.execute(db);
    // It is packed already.
    await sql`ALTER TABLE kept_chunk ALTER COLUMN packed SET STORAGE EXTERNAL`.execute(db);
  },
};
