import type { Db } from '../../../storage/db/database.ts';
import { textsIn } from '../../../storage/db/dialect.ts';
import { transact } from '../../../storage/db/transactions.ts';

export type KeptLogStore = ReturnType<typeof createKeptLogStore>;

/** Stores the kept logs of runs, each with the run's trace and the bytes of both. */
export function createKeptLogStore(db: Db) {
  return {
    /** Returns the users who launched the runs. */
    async findUsers(runIds: readonly string[]): Promise<string[]> {
      const rows = await db
        .selectFrom('kept_log')
        .select('user_id')
        .distinct()
        .where('run_id', 'in', textsIn(db, runIds))
        .execute();
      return rows.map((row) => row.user_id);
    },

    /** Lists the kept logs of the user's ended runs, oldest first. */
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

    delete: (runIds: readonly string[]): Promise<void> =>
      transact(db, async (transaction) => {
        for (const table of ['kept_chunk', 'kept_log'] as const)
          await transaction.deleteFrom(table).where('run_id', 'in', textsIn(transaction, runIds)).execute();
      }),
  };
}
