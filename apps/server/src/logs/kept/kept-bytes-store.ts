import { sql } from 'kysely';

import type { Db } from '../../db/database.ts';

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  kept_log: { run_id: string; user_id: string; bytes: number };
  run: { id: string; user_id: string; ended_at: number | null };
};

export type KeptBytesStore = ReturnType<typeof createKeptBytesStore>;

/** What the kept logs take, by run. */
export function createKeptBytesStore(database: Db) {
  const db = database.withTables<Tables>();
  return {
    /** Returns whose runs they are; a run that is gone counts nothing. */
    async save(sizes: ReadonlyMap<string, number>): Promise<Set<string>> {
      const json = JSON.stringify([...sizes].map(([runId, bytes]) => ({ runId, bytes })));
      const { rows } = await sql<{ user_id: string }>`
        INSERT INTO kept_log (run_id, user_id, bytes)
        SELECT run.id, run.user_id, value ->> 'bytes' FROM json_each(${json}) JOIN run ON run.id = value ->> 'runId'
        WHERE true ON CONFLICT (run_id) DO UPDATE SET bytes = excluded.bytes RETURNING user_id`.execute(db);
      return new Set(rows.map((row) => row.user_id));
    },

    /** Of the runs of the user that have ended, the oldest first. */
    listOldest: (userId: string, limit: number): Promise<{ run_id: string; bytes: number }[]> =>
      db
        .selectFrom('kept_log')
        .innerJoin('run', 'run.id', 'kept_log.run_id')
        .select(['run_id', 'bytes'])
        .where('kept_log.user_id', '=', userId)
        .where('ended_at', 'is not', null)
        .orderBy('run_id')
        .limit(limit)
        .execute(),

    async forget(runIds: readonly string[]): Promise<void> {
      await db
        .deleteFrom('kept_log')
        .where('run_id', 'in', sql<string>`(SELECT value FROM json_each(${JSON.stringify(runIds)}))`)
        .execute();
    },
  };
}
