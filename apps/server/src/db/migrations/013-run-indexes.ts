import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** A run that begins moves in no index: a thousand of them begin at once. */
export const runIndexes: Migration = {
  async up(db) {
    await db.schema.dropIndex('run_user_status').execute();
    await db.schema.dropIndex('run_active').execute();
    await sql`create index run_user_ended on run (user_id, status, id) where ended_at is not null`.execute(
      db,
    );
    // The runs that have not ended are few, whatever is stored: a start of the server reads only them.
    await sql`create index run_active on run (id) where ended_at is null`.execute(db);
  },
};
