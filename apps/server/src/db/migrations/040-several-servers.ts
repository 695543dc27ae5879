import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

import { isPostgres } from '../dialect.ts';

/** What several servers of one database have to know of each other's launches. SQLite has one server. */
export const severalServers: Migration = {
  async up(db) {
    // The connection that the run is to be sent on, or whose host has it.
    await db.schema.alterTable('run').addColumn('epoch', 'bigint').execute();
    if (!isPostgres(db)) return;
    await sql`CREATE INDEX run_epoch ON run (epoch) WHERE ended_at IS NULL`.execute(db);
    await sql`CREATE INDEX run_user_active ON run (user_id) WHERE ended_at IS NULL`.execute(db);
    const text = sql`text collate "C" NOT NULL`;
    await sql`CREATE TABLE installation (id ${text}, needs text NOT NULL DEFAULT '')`.execute(db);
    await sql`INSERT INTO installation (id) VALUES (${randomUUID()})`.execute(db);
    await sql`CREATE TABLE bundle (hash ${text} PRIMARY KEY, code text NOT NULL, source_map text, used_at bigint NOT NULL)`.execute(
      db,
    );
    await sql`CREATE TABLE launch_payload (launch ${text} PRIMARY KEY REFERENCES launch (id) ON DELETE CASCADE,
      bundle_hash ${text}, given text NOT NULL, created_at bigint NOT NULL)`.execute(db);
  },
};
