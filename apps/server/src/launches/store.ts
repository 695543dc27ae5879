import { sql } from 'kysely';

import type { Db } from '../db/database.ts';
import type { GroupCommit, Write } from '../db/group-commit.ts';
import type { StoredRun } from '../runs/stored-run.ts';

interface LaunchRow {
  id: string;
  user_id: string;
  launch_id: string | null;
  /** Hash of the request, to tell a repetition from another request under the same launch ID. */
  fingerprint: string;
  /** JSON of the `LaunchAnswer` of a launch of which something did not start. */
  answer: string | null;
  /** Of the token that the launch was asked for with, which may be gone by now. */
  token_name: string | null;
  /** As it was called then; null for direct code. */
  project_name: string | null;
  /** Git's hash of the project's saved files. */
  tree: string | null;
  /** JSON of what the launch gave to the code. */
  parameters: string | null;
  created_at: number;
}

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  launch: LaunchRow;
  run: StoredRun;
};

export type StoredLaunch = LaunchRow;
export type NewLaunch = Omit<LaunchRow, 'answer'>;
/** What became of a run. */
export type BegunRun = Pick<StoredRun, 'id' | 'device_id' | 'started_at' | 'error_code' | 'error_message'>;

/** What the runs of a launch do not have in common. A list: SQLite reads it in half the time of an object. */
const ownFields = (run: StoredRun) => [run.id, run.device_id, run.device_owner_id, run.host_id];

export type LaunchStore = ReturnType<typeof createLaunchStore>;

/** Launches, and the runs they begin. */
export function createLaunchStore(database: Db, commits: GroupCommit) {
  const db = database.withTables<Tables>();
  return {
    find: (userId: string, launchId: string): Promise<StoredLaunch | undefined> =>
      db
        .selectFrom('launch')
        .selectAll()
        .where('user_id', '=', userId)
        .where('launch_id', '=', launchId)
        .executeTakeFirst(),

    /** A launch may have ten thousand, so no more than that of each. */
    listRuns: (launch: string): Promise<BegunRun[]> =>
      db
        .selectFrom('run')
        .select(['id', 'device_id', 'started_at', 'error_code', 'error_message'])
        .where('launch', '=', launch)
        .execute(),

    /** The launch with all its new runs and what is noted of it, or nothing. */
    async insert(launch: NewLaunch, runs: readonly StoredRun[], note: Write<void>): Promise<void> {
      const { id, user_id: userId, launch_id: launchId, created_at: createdAt } = launch;
      const [first] = runs;
      const json = JSON.stringify(runs.map(ownFields));
      await commits.write(async (transaction) => {
        await transaction
          .withTables<Tables>()
          .insertInto('launch')
          .values({ ...launch, answer: null })
          .execute();
        // One statement for all of them: a value for each field of each run would make it too long.
        await sql`INSERT INTO run (id, device_id, device_owner_id, host_id, launch, user_id, automation_id, launch_id, status,
            "commit", dirty, created_at)
          SELECT run.value->>0, run.value->>1, run.value->>2, run.value->>3, ${id}, ${userId}, ${first?.automation_id}, ${launchId},
            'starting', ${first?.commit}, ${first?.dirty}, ${createdAt}
          FROM json_each(${json}) AS run`.execute(transaction);
        await note(transaction);
      });
    },

    async saveAnswer(id: string, answer: string): Promise<void> {
      await commits.write((transaction) =>
        transaction.withTables<Tables>().updateTable('launch').set({ answer }).where('id', '=', id).execute(),
      );
    },

    /** Up to `limit` launches of before `time` whose runs have all ended. */
    async listEndedBefore(time: number, limit: number): Promise<string[]> {
      const active = db.selectFrom('run').select('run.launch').where('ended_at', 'is', null);
      const old = await db
        .selectFrom('launch')
        .select('id')
        .where('created_at', '<', time)
        .where('id', 'not in', active)
        .orderBy('created_at')
        .limit(limit)
        .execute();
      return old.map((launch) => launch.id);
    },

    async listRunIds(launches: readonly string[]): Promise<string[]> {
      const runs = await db
        .selectFrom('run')
        .select('id')
        .where('launch', 'in', [...launches])
        .execute();
      return runs.map((run) => run.id);
    },

    /** The launches with their runs. */
    async delete(launches: readonly string[]): Promise<void> {
      await db
        .deleteFrom('launch')
        .where('id', 'in', [...launches])
        .execute();
    },
  };
}
