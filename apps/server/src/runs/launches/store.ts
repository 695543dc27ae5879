import { sql } from 'kysely';
import type { Db, Transaction } from '../../storage/db/database.ts';
import type { GroupCommit } from '../../storage/db/group-commit.ts';
import { rowsAs, textsIn } from '../../storage/db/dialect.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import type { StoredRun } from '../runs/stored-run.ts';

export type StoredLaunch = Row<'launch'>;
export type NewLaunch = Omit<StoredLaunch, 'answer' | 'bytes'>;
/** State of a run of a launch. */
export type LaunchedRun = Pick<
  StoredRun,
  | 'id'
  | 'device_id'
  | 'device_owner_id'
  | 'host_id'
  | 'status'
  | 'stop_requested'
  | 'started_at'
  | 'error_code'
  | 'error_message'
>;

/** A new run, with the connection to send it on. */
export type NewRun = StoredRun & { epoch: number | null };

/** Counts the stored bytes of a launch. */
export const bytesOf = (...texts: readonly (string | null)[]): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);

/** Columns in which the runs of a launch differ. */
const ownColumns = {
  id: 'text',
  device_id: 'text',
  device_owner_id: 'text',
  host_id: 'text',
  epoch: 'bigint',
} as const;

export type LaunchStore = ReturnType<typeof createLaunchStore>;

/** Stores launches and their runs. */
export function createLaunchStore(db: Db, commits: GroupCommit) {
  return {
    find: (userId: string, launchId: string, on: Db = db): Promise<StoredLaunch | undefined> =>
      on
        .selectFrom('launch')
        .selectAll()
        .where('user_id', '=', userId)
        .where('launch_id', '=', launchId)
        .executeTakeFirst(),

    /** Lists the runs of a launch. Selects few columns, because a launch may have ten thousand runs. */
    listRuns: (launch: string): Promise<LaunchedRun[]> =>
      db
        .selectFrom('run')
        .select(['id', 'device_id', 'device_owner_id', 'host_id', 'status', 'stop_requested'])
        .select(['started_at', 'error_code', 'error_message'])
        .where('launch', '=', launch)
        .execute(),

    /** Returns the devices on which the project already runs. */
    async selectBusy(
      transaction: Transaction,
      projectId: string,
      deviceIds: readonly string[],
    ): Promise<ReadonlySet<string>> {
      const rows = await transaction
        .selectFrom('run')
        .select('device_id')
        .where('device_id', 'in', textsIn(transaction, deviceIds))
        .where('automation_id', '=', projectId)
        .where('ended_at', 'is', null)
        .where('launch_id', 'is', null)
        .execute();
      return new Set(rows.map((row) => row.device_id));
    },

    /** Inserts a launch with its runs and its direct code in the form of `keptCode`. */
    async insert(
      transaction: Transaction,
      launch: NewLaunch,
      runs: readonly NewRun[],
      code: string | null = null,
    ): Promise<void> {
      const { id, user_id: userId, created_at: createdAt } = launch;
      const [first] = runs;
      await transaction
        .insertInto('launch')
        .values({ ...launch, answer: null, bytes: bytesOf(launch.parameters, code) })
        .execute();
      // One statement inserts all runs. The shared columns are passed once: a value for each field of each run would
      // make the statement too long.
      await sql`INSERT INTO run (id, device_id, device_owner_id, host_id, epoch, launch, user_id, automation_id,
          project_name, launch_id, status, "commit", dirty, created_at)
        SELECT own.id, own.device_id, own.device_owner_id, own.host_id, own.epoch, ${id}, ${userId},
          ${first?.automation_id}, ${first?.project_name}, ${first?.launch_id}, 'starting', ${first?.commit}, ${first?.dirty},
          ${createdAt}
        FROM ${rowsAs(transaction, 'own', ownColumns, runs)}`.execute(transaction);
      if (code !== null) await transaction.insertInto('launch_code').values({ launch: id, code }).execute();
    },

    /** Saves a reply unless one is saved already. Returns the saved reply. */
    saveAnswer: (id: string, answer: string): Promise<string> =>
      commits.write(async (transaction) => {
        const saved = await transaction
          .updateTable('launch')
          .set((eb) => ({ answer: eb.fn.coalesce('answer', eb.val(answer)) }))
          .where('id', '=', id)
          .returning('answer')
          .executeTakeFirst();
        return saved?.answer ?? answer;
      }),

    async findAnswer(id: string): Promise<string | null> {
      const row = await db.selectFrom('launch').select('answer').where('id', '=', id).executeTakeFirst();
      return row?.answer ?? null;
    },

    /** Lists up to `limit` launches that were created before `time` and have no active run. */
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

    /** Deletes launches with their runs. */
    async delete(launches: readonly string[]): Promise<void> {
      await db
        .deleteFrom('launch')
        .where('id', 'in', [...launches])
        .execute();
    },
  };
}
