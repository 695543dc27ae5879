import { sql } from 'kysely';
import type { Db } from '../../storage/db/database.ts';
import { textsIn } from '../../storage/db/dialect.ts';
import { projectsOf } from '../../storage/db/listed-work.ts';
import type { Row } from '../../storage/db/tables/tables.ts';

/** User whose runs are counted, and phones on which runs of others count for the user. */
export interface StatsAudience {
  readonly userId: string;
  /** Phones on which runs of others count for the user, when these are of projects that they own or have accepted. */
  readonly otherDeviceIds: readonly string[];
}

/** Runs of a day that ended alike on a phone. */
export type DayStat = Omit<Row<'run_stat'>, 'day' | 'user_id'>;

export type StatsStore = ReturnType<typeof createStatsStore>;

/** The counts of ended runs. Triggers of `run` write them. */
export function createStatsStore(db: Db) {
  return {
    /** Lists the counts of a day: the event loop can wait for that many. */
    listOfDay: async (day: number, { userId, otherDeviceIds }: StatsAudience): Promise<DayStat[]> => {
      const columns = sql`automation_id, device_id, outcome, reason, name, runs, started, run_ms, wait_ms`;
      const own = sql`SELECT ${columns} FROM run_stat WHERE day = ${day} AND user_id = ${userId} AND runs > 0`;
      if (otherDeviceIds.length === 0) return (await sql<DayStat>`${own}`.execute(db)).rows;
      const { rows } = await sql<DayStat>`${own} UNION ALL
        SELECT ${columns} FROM run_stat WHERE day = ${day} AND device_id IN ${textsIn(db, otherDeviceIds)}
          AND user_id <> ${userId} AND runs > 0
          AND automation_id IN ${projectsOf(userId, undefined)}`.execute(db);
      return rows;
    },

    async deleteBefore(day: number): Promise<void> {
      await db.deleteFrom('run_stat').where('day', '<', day).execute();
    },
  };
}
