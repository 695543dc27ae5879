import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

import { isPostgres } from '../dialect.ts';

/** The ID of the last log entry of each host: whoever has its next connection goes on after it. */
export const lastLogIds: Migration = {
  async up(db) {
    if (!isPostgres(db)) return;
    await sql`ALTER TABLE host_session ADD COLUMN last_log_id text collate "C" NOT NULL DEFAULT ''`.execute(
      db,
    );
  },
};
