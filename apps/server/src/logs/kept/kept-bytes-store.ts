import { sql } from 'kysely';

import type { Db } from '../../db/database.ts';
import { rowsAs, textsIn } from '../../db/rows.ts';

export type KeptBytesStore = ReturnType<typeof createKeptBytesStore>;

/** What the kept logs take, by run. */
export function createKeptBytesStore(db: Db) {
  return {
    /** Returns whose runs they are; a run that is gone counts nothing. */
    async save(sizes: ReadonlyMap<string, number>): Promise<Set<string>> {
      const rowsOfRuns = Array.from(sizes, ([run_id, bytes]) => ({ run_id, bytes }));
      const size = rowsAs(db, 'size', { run_id: 'text', bytes: 'bigint' }, rowsOfRuns);
      const { rows } = await sql<{ user_id: string }>`
        INSERT INTO kept_log (run_id, user_id, bytes)
        SELECT run.id, run.user_id, size.bytes FROM ${size} JOIN run ON run.id = size.run_id
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
      await db.deleteFrom('kept_log').where('run_id', 'in', textsIn(db, runIds)).execute();
    },
  };
}
