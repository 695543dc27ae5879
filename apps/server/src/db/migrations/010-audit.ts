import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

import { isPostgres } from '../dialect.ts';
import { createTrigger } from '../triggers.ts';

/** Nothing refers to other tables: what is noted stays when its user or its project goes. */
export const auditTables: Migration = {
  async up(db) {
    await db.schema
      .createTable('audit_entry')
      // A UUIDv7: it holds the time, and their order is that of the entries.
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('action', 'text', (column) => column.notNull())
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('code', 'text')
      .addColumn('user_id', 'text')
      .addColumn('user_name', 'text')
      .addColumn('token_id', 'text')
      .addColumn('token_name', 'text')
      .addColumn('address', 'text')
      .addColumn('subject_type', 'text')
      .addColumn('subject_id', 'text')
      .addColumn('subject_name', 'text')
      .addColumn('details', 'text', (column) => column.notNull())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addColumn('request_id', 'text')
      .execute();
    for (const column of ['user_id', 'subject_id', 'action'])
      await db.schema
        .createIndex(`audit_entry_${column}`)
        .on('audit_entry')
        .columns([column, 'id'])
        .execute();
    await createTrigger(db, {
      name: 'audit_entry_stays',
      on: 'before update on audit_entry',
      refusal: 'what is in the audit log is not changed',
    });
    // Who may read of it beside administrators.
    const readers = db.schema
      .createTable('audit_reader')
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('entry_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('audit_reader_key', ['user_id', 'entry_id']);
    await (isPostgres(db) ? readers : readers.modifyEnd(sql`WITHOUT ROWID`)).execute();
    await db.schema.createIndex('audit_reader_entry').on('audit_reader').column('entry_id').execute();
  },
};
