import { sql } from 'kysely';

import type { Db } from '../db/database.ts';
import { requireCurrent } from '../db/epochs.ts';
import type { GroupCommit, Write } from '../db/group-commit.ts';
import { rowsAs, textsIn } from '../db/rows.ts';
import type { Row } from '../db/tables.ts';
import type { StoredRun } from '../runs/stored-run.ts';

export type StoredLaunch = Row<'launch'>;
export type NewLaunch = Omit<StoredLaunch, 'answer'>;
/** What became of a run. */
export type BegunRun = Pick<StoredRun, 'id' | 'device_id' | 'started_at' | 'error_code' | 'error_message'>;

/** What the runs of a launch do not have in common. */
const ownColumns = { id: 'text', device_id: 'text', device_owner_id: 'text', host_id: 'text' } as const;

export type LaunchStore = ReturnType<typeof createLaunchStore>;

/** Launches, and the runs they begin. */
export function createLaunchStore(db: Db, commits: GroupCommit) {
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

    /** The devices on which the project runs. */
    async listBusy(projectId: string, deviceIds: readonly string[]): Promise<string[]> {
      const rows = await db
        .selectFrom('run')
        .select('device_id')
        .where('device_id', 'in', textsIn(db, deviceIds))
        .where('automation_id', '=', projectId)
        .where('ended_at', 'is', null)
        .where('launch_id', 'is', null)
        .execute();
      return rows.map((row) => row.device_id);
    },

    /**
     * The launch with all its new runs and what is noted of it, or nothing. Throws what `isUniqueViolation` knows when
     * there is one of this launch ID, or its project runs on one of the devices, and `EpochOver` when a host has another
     * connection than the one of these epochs that the runs are to be sent on.
     */
    async insert(
      launch: NewLaunch,
      runs: readonly StoredRun[],
      { note, epochs }: { note: Write<void>; epochs: readonly number[] },
    ): Promise<void> {
      const { id, user_id: userId, launch_id: launchId, created_at: createdAt } = launch;
      const [first] = runs;
      await commits.write(async (transaction) => {
        await requireCurrent(transaction, epochs);
        await transaction
          .insertInto('launch')
          .values({ ...launch, answer: null })
          .execute();
        // One statement for all of them: a value for each field of each run would make it too long.
        await sql`INSERT INTO run (id, device_id, device_owner_id, host_id, launch, user_id, automation_id, launch_id, status,
            "commit", dirty, created_at)
          SELECT own.id, own.device_id, own.device_owner_id, own.host_id, ${id}, ${userId}, ${first?.automation_id}, ${launchId},
            'starting', ${first?.commit}, ${first?.dirty}, ${createdAt}
          FROM ${rowsAs(transaction, 'own', ownColumns, runs)}`.execute(transaction);
        await note(transaction);
      });
    },

    async saveAnswer(id: string, answer: string): Promise<void> {
      await commits.write((transaction) =>
        transaction.updateTable('launch').set({ answer }).where('id', '=', id).execute(),
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
