import { sql } from 'kysely';
import type { Db } from '../../storage/db/database.ts';
import { textsIn } from '../../storage/db/dialect.ts';
import { beginningOfUuidV7 } from '../../kernel/uuid-v7.ts';
import { ended } from './absence-store.ts';

/** User and projects whose runs are selected. */
export interface RunsOf {
  readonly userId: string;
  /** Project IDs; null selects all projects and direct code. */
  readonly projectIds: readonly string[] | null;
}

interface RunCounts {
  readonly ended: number;
  /** Number of ended runs that failed. */
  readonly failed: number;
}

export type RunWatchStore = ReturnType<typeof createRunWatchStore>;

/** Counts and finds runs of a user. */
export function createRunWatchStore(db: Db) {
  const runsOf = ({ userId, projectIds }: RunsOf) => {
    const query = db.selectFrom('run').where('user_id', '=', userId);
    return projectIds === null ? query : query.where('automation_id', 'in', textsIn(db, projectIds));
  };
  return {
    /** Counts ended runs that were launched after `since`, except those that were stopped. */
    async count(of: RunsOf, since: number): Promise<RunCounts> {
      const isSuccess = sql`(coalesce(outcome, 'succeeded') = 'succeeded' AND status = 'completed')`;
      const row = await runsOf(of)
        .select((eb) => [
          eb.fn.countAll<number>().as('ended'),
          sql<number>`coalesce(sum(CASE WHEN ${isSuccess} THEN 0 ELSE 1 END), 0)`.as('failed'),
        ])
        .where('ended_at', 'is not', null)
        .where('status', 'in', ended)
        .where('id', '>', beginningOfUuidV7(since))
        .executeTakeFirstOrThrow();
      return { ended: Number(row.ended), failed: Number(row.failed) };
    },

    findLast: (of: RunsOf): Promise<{ id: string; created_at: number } | undefined> =>
      runsOf(of).select(['id', 'created_at']).orderBy('id', 'desc').limit(1).executeTakeFirst(),
  };
}
