import type { Db } from '../db/database.ts';

interface LaunchRow {
  id: string;
  user_id: string;
  launch_id: string | null;
  /** Hash of the request, to tell a repetition from another request under the same launch ID. */
  fingerprint: string;
  /** JSON of the `LaunchAnswer`, once there is one. */
  answer: string | null;
  created_at: number;
}

interface NewRunRow {
  id: string;
  launch: string;
  user_id: string;
  device_id: string;
  host_id: string;
  automation_id: string;
  launch_id: string | null;
  status: string;
  commit: string | null;
  dirty: number | null;
  created_at: number;
}

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  launch: LaunchRow;
  run: NewRunRow & { ended_at: number | null };
};

export type StoredLaunch = LaunchRow;
export type NewLaunch = Omit<LaunchRow, 'answer'>;
export type NewRun = Omit<NewRunRow, 'launch' | 'user_id' | 'launch_id' | 'status' | 'created_at'>;

/** SQLite takes 32,766 values a statement; a run has eleven. */
const runsPerStatement = 1000;

export type LaunchStore = ReturnType<typeof createLaunchStore>;

/** Launches, and the runs they begin. */
export function createLaunchStore(database: Db) {
  const db = database.withTables<Tables>();
  return {
    find: (userId: string, launchId: string): Promise<StoredLaunch | undefined> =>
      db
        .selectFrom('launch')
        .selectAll()
        .where('user_id', '=', userId)
        .where('launch_id', '=', launchId)
        .executeTakeFirst(),

    /** The launch with all its runs, or nothing. */
    async insert(launch: NewLaunch, runs: readonly NewRun[]): Promise<void> {
      const common = {
        launch: launch.id,
        user_id: launch.user_id,
        launch_id: launch.launch_id,
        status: 'starting',
        created_at: launch.created_at,
      };
      await db.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('launch')
          .values({ ...launch, answer: null })
          .execute();
        for (let first = 0; first < runs.length; first += runsPerStatement) {
          const rows = runs
            .slice(first, first + runsPerStatement)
            .map((run) => ({ ...run, ...common, ended_at: null }));
          await transaction.insertInto('run').values(rows).execute();
        }
      });
    },

    async saveAnswer(id: string, answer: string): Promise<void> {
      await db.updateTable('launch').set({ answer }).where('id', '=', id).execute();
    },

    /** Deletes up to `limit` launches of before `time` whose runs have all ended, with these runs. */
    async deleteEndedBefore(time: number, limit: number): Promise<number> {
      const active = db.selectFrom('run').select('run.launch').where('status', 'in', ['starting', 'running']);
      const old = await db
        .selectFrom('launch')
        .select('id')
        .where('created_at', '<', time)
        .where('id', 'not in', active)
        .orderBy('created_at')
        .limit(limit)
        .execute();
      if (old.length === 0) return 0;
      const ids = old.map((launch) => launch.id);
      await db.deleteFrom('launch').where('id', 'in', ids).execute();
      return ids.length;
    },
  };
}
