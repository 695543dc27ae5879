import { sql } from 'kysely';
import type { Db } from '../../storage/db/database.ts';
import { textsIn } from '../../storage/db/dialect.ts';
import { projectsOf } from '../../storage/db/listed-work.ts';
import type { Row } from '../../storage/db/tables/tables.ts';

/** User whose runs are counted, and phones on which runs of others count too. */
export interface StatsAudience {
  readonly userId: string;
  /** Phones on which runs of others count, when they are runs of projects that the user owns or has accepted. */
  readonly otherDeviceIds: readonly string[];
}

/** Count of a day's runs with the same outcome on one phone. */
export type DayStat = Omit<Row<'run_stat'>, 'day' | 'user_id'>;

export type StatsStore = ReturnType<typeof createStatsStore>;

/** Reads the counts of ended runs, which triggers on the table `run` maintain. */
export function createStatsStore(db: Db) {
  return {
    /** Lists the counts of one day. One day's rows block the event loop only briefly. */
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
