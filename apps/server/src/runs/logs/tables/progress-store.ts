import { sql } from 'kysely';
import type { Db } from '../../../storage/db/database.ts';
import { rowsAs, textsIn } from '../../../storage/db/dialect.ts';

export type ProgressStore = ReturnType<typeof createProgressStore>;

/**
 * Stores the number of the last stored entry per run. It identifies entries that a host resends, even after the stored
 * ones have expired.
 */
export function createProgressStore(db: Db) {
  return {
    /** Reads the numbers; 0 when nothing is stored. Deleted runs are omitted. */
    async of(runIds: readonly string[]): Promise<Map<string, number>> {
      const rows = await db
        .selectFrom('run')
        .leftJoin('log_progress', 'log_progress.run_id', 'run.id')
        .select(['run.id', 'seq'])
        .where('run.id', 'in', textsIn(db, runIds))
        .execute();
      return new Map(rows.map(({ id, seq }) => [id, seq ?? 0]));
    },

    /** Saves numbers. A number never decreases. Deleted runs are skipped. */
    async save(seqs: ReadonlyMap<string, number>): Promise<void> {
      const rows = Array.from(seqs, ([run_id, seq]) => ({ run_id, seq }));
      await sql`INSERT INTO log_progress (run_id, seq)
        SELECT run.id, seen.seq FROM ${rowsAs(db, 'seen', { run_id: 'text', seq: 'bigint' }, rows)}
          JOIN run ON run.id = seen.run_id
        WHERE true ON CONFLICT (run_id) DO UPDATE SET seq = excluded.seq
        WHERE excluded.seq > log_progress.seq`.execute(db);
    },
  };
}
