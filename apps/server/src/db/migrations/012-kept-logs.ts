import type { Migration } from 'kysely/migration';

import { createTrigger } from '../triggers.ts';

/** What the kept log of a run takes; the sum of a user is right from the moment it is stored until the run is gone. */
export const keptLogTable: Migration = {
  async up(db) {
    await db.schema
      .createTable('kept_log')
      .addColumn('run_id', 'text', (column) => column.primaryKey().references('run.id').onDelete('cascade'))
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('kept_log_user').on('kept_log').columns(['user_id', 'run_id']).execute();
    const add = (bytes: string, user: string): string =>
      `insert into stored_bytes (user_id, kind, bytes) values (${user}, 'logs', ${bytes})
        on conflict (user_id, kind) do update set bytes = stored_bytes.bytes + excluded.bytes`;
    const triggers = [
      ['begin', 'insert', add('new.bytes', 'new.user_id')],
      ['change', 'update of bytes', add('new.bytes - old.bytes', 'new.user_id')],
      ['end', 'delete', add('-old.bytes', 'old.user_id')],
    ] as const;
    for (const [name, event, statement] of triggers)
      await createTrigger(db, { name: `kept_log_${name}`, on: `after ${event} on kept_log`, statement });
  },
};
