import { isEnded, maxCountedRuns, type RunStatus, type RunLauncher } from '@phalanx/protocol';
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { Db } from '../../storage/db/database.ts';
import type { GroupCommit } from '../../storage/db/group-commit.ts';
import { hasPart, textsIn } from '../../storage/db/dialect.ts';
import { projectsOf } from '../../storage/db/listed-work.ts';
import type { HostCaller } from '../../http/requests/principal.ts';
import { runQueue, readKeptCode, runColumns, type StoredRun, type StoredRunDetail } from './stored-run.ts';

export interface RunFilter {
  userId: string;
  /** Phones on which the user sees runs of others, when these are of projects that they have accepted, or that are named. */
  otherDeviceIds: readonly string[];
  /** The only automations whose runs may be seen; null: all. */
  automationIds: ReadonlySet<string> | null;
  deviceId: string | undefined;
  automationId: string | undefined;
  launchId: string | undefined;
  /** The service's own ID of the launch. */
  launch: string | undefined;
  status: RunStatus | undefined;
  /** Text to look for in the ID, the name and the error of a run. */
  search: string | undefined;
  /** Epoch ms, both exclusive. */
  createdAfter: number | undefined;
  createdBefore: number | undefined;
  /** ID of the run that all runs are to be older than. */
  cursor: string | undefined;
  limit: number;
}

/**
 * Maximum number of runs that a search looks through, so that a text without matches does not read the whole history at
 * once.
 */
const runsPerSearch = 10_000;

/**
 * Matches a text in either case of ASCII letters; SQLite knows no other. Error messages may be long, and say the most
 * at first.
 */
function hasText(db: Db, text: string): RawBuilder<SqlBool> {
  const searched = sql`id || ' ' || coalesce(project_name, '') || ' ' || coalesce(error_code, '') || ' ' || substr(coalesce(error_message, ''), 1, 1000)`;
  return hasPart(db, sql`lower(${searched})`, sql`lower(${text})`);
}

/** All runs that have not ended are fewer than all runs of a user, so no index of users (which `||` keeps out) helps. */
const ownedBy = (userId: string, hasEnded?: boolean): RawBuilder<SqlBool> =>
  hasEnded === false ? sql`user_id || '' = ${userId}` : sql`user_id = ${userId}`;

/** The user's own runs, and those of others on phones and of projects that both are shared. */
function visibleTo(db: Db, filter: RunFilter, hasEnded?: boolean): RawBuilder<SqlBool> {
  const { userId, otherDeviceIds, automationId } = filter;
  if (otherDeviceIds.length === 0) return ownedBy(userId, hasEnded);
  return sql`(user_id = ${userId} OR (launch_id IS NULL
    AND device_id IN ${textsIn(db, otherDeviceIds)}
    AND automation_id IN ${projectsOf(userId, automationId)}))`;
}

interface FoundRuns {
  runs: StoredRun[];
  /** The oldest run that a search has looked at, when there may be older ones that match. */
  searchedTo: string | null;
}

/** Number of runs that match, as far as they are counted. */
interface RunCount {
  runs: number;
  or_more: boolean;
}

interface CalledOff {
  calledOff: { id: string; epoch: number | null }[];
  begun: StoredRun[];
}

export type RunStore = ReturnType<typeof createRunStore>;

/** The history of runs. IDs are UUIDv7, so their order is that of creation. */
export function createRunStore(db: Db, commits: GroupCommit, searchLimit = runsPerSearch) {
  /** Finds a launch by the unique index of launches: a caller's launch ID is one launch. */
  const launchOf = (userId: string, launchId: string) =>
    db.selectFrom('launch').select('id').where('user_id', '=', userId).where('launch_id', '=', launchId);
  const select = (filter: RunFilter, hasEnded?: boolean) => {
    let query = db
      .selectFrom('run')
      .selectAll()
      .where(visibleTo(db, filter, hasEnded));
    if (hasEnded !== undefined) query = query.where('ended_at', hasEnded ? 'is not' : 'is', null);
    if (filter.automationIds !== null) query = query.where('automation_id', 'in', [...filter.automationIds]);
    if (filter.deviceId !== undefined) query = query.where('device_id', '=', filter.deviceId);
    if (filter.automationId !== undefined) query = query.where('automation_id', '=', filter.automationId);
    if (filter.launchId !== undefined)
      query = query.where('launch', '=', launchOf(filter.userId, filter.launchId));
    if (filter.launch !== undefined) query = query.where('launch', '=', filter.launch);
    if (filter.status !== undefined) query = query.where('status', '=', filter.status);
    if (filter.createdAfter !== undefined) query = query.where('created_at', '>', filter.createdAfter);
    if (filter.createdBefore !== undefined) query = query.where('created_at', '<', filter.createdBefore);
    return filter.cursor === undefined ? query : query.where('id', '<', filter.cursor);
  };
  /** Different indexes find runs that have ended and runs that have not. */
  const matching = (filter: RunFilter) => {
    if (filter.status !== undefined) return select(filter, isEnded(filter.status));
    if (filter.deviceId !== undefined) return select(filter, false).unionAll(select(filter, true));
    return select(filter);
  };
  return {
    find: (id: string): Promise<StoredRun | undefined> =>
      db.selectFrom('run').selectAll().where('id', '=', id).executeTakeFirst(),

    /** Finds a run when the caller has the token that the host of its phone is connected with, or was last. */
    findOfHost: (id: string, { userId, tokenId }: HostCaller): Promise<StoredRun | undefined> =>
      db
        .selectFrom('run')
        .innerJoin('host', (join) =>
          join
            .onRef('host.owner_id', '=', 'run.device_owner_id')
            .on((eb) => eb('host.id', '=', eb.fn<string>('lower', ['run.host_id']))),
        )
        .selectAll('run')
        .where('run.id', '=', id)
        .where('host.owner_id', '=', userId)
        .where('host.token_id', '=', tokenId)
        .executeTakeFirst(),

    findDetail: (id: string): Promise<StoredRunDetail | undefined> =>
      db
        .selectFrom('run')
        .innerJoin('launch', 'launch.id', 'run.launch')
        .leftJoin('run_result', 'run_result.run_id', 'run.id')
        .selectAll('run')
        .select(['launch.tree', 'launch.parameters', 'run_result.json as result'])
        .where('run.id', '=', id)
        .executeTakeFirst(),

    /** The direct code of a run; null when none is kept. */
    async findCode(runId: string): Promise<string | null> {
      const query = db.selectFrom('run').innerJoin('launch_code', 'launch_code.launch', 'run.launch');
      const row = await query.select('code').where('run.id', '=', runId).executeTakeFirst();
      return row === undefined ? null : readKeptCode(row.code);
    },

    /** Notes that the logs of these runs, which have ended, are complete. */
    async noteLogsStored(ids: readonly string[]): Promise<void> {
      await db.updateTable('run').set({ log_left: 0 }).where('id', 'in', textsIn(db, ids)).execute();
    },

    listByIds: (ids: readonly string[]): Promise<StoredRun[]> =>
      db.selectFrom('run').selectAll().where('id', 'in', textsIn(db, ids)).execute(),

    async list(filter: RunFilter): Promise<FoundRuns> {
      const newest = matching(filter).orderBy('id', 'desc');
      if (filter.search === undefined)
        return { runs: await newest.limit(filter.limit).execute(), searchedTo: null };
      const searched = db.selectFrom(newest.limit(searchLimit).as('run'));
      const found = searched.selectAll().where(hasText(db, filter.search)).orderBy('id', 'desc');
      const runs = await found.limit(filter.limit).execute();
      if (runs.length === filter.limit) return { runs, searchedTo: null };
      const { last, count } = await searched
        .select((eb) => [eb.fn.min('id').as('last'), eb.fn.countAll().as('count')])
        .executeTakeFirstOrThrow();
      return { runs, searchedTo: Number(count) === searchLimit ? last : null };
    },

    /** Counts the first matches, as far as the list looks: it does not count all that is stored. */
    async count(filter: RunFilter, max = maxCountedRuns): Promise<RunCount> {
      const newest = matching(filter).orderBy('id', 'desc');
      const bound = filter.search === undefined ? max + 1 : searchLimit;
      const matches = filter.search === undefined ? sql<SqlBool>`1 = 1` : hasText(db, filter.search);
      const { looked, count } = await db
        .selectFrom(newest.limit(bound).as('run'))
        .select((eb) => [
          eb.fn.countAll().as('looked'),
          sql<number>`coalesce(sum(CASE WHEN ${matches} THEN 1 ELSE 0 END), 0)`.as('count'),
        ])
        .executeTakeFirstOrThrow();
      return { runs: Math.min(Number(count), max), or_more: Number(looked) === bound };
    },

    /** Lists the phones on which others than their owners have launched. */
    async listForeignDevices(): Promise<string[]> {
      const query = db.selectFrom('run').select('device_id').distinct();
      const rows = await query.whereRef('user_id', '<>', 'device_owner_id').execute();
      return rows.map((row) => row.device_id);
    },

    /** Whether the user has launched direct code under this ID. */
    async hasLaunched(userId: string, launchId: string): Promise<boolean> {
      const row = await db
        .selectFrom('run')
        .select('id')
        .where('automation_id', '=', launchId)
        .where('user_id', '=', userId)
        .where('launch_id', 'is not', null)
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },

    /**
     * Calls off runs: those that have not begun never begin. Returns them with their connections, and the others as
     * they are.
     */
    callOff: (runIds: readonly string[]): Promise<CalledOff> =>
      commits.write(async (transaction) => {
        const { rows: calledOff } = await sql<{ id: string; epoch: number | null }>`
          UPDATE run SET stop_requested = 1 WHERE id IN ${textsIn(transaction, runIds)} AND status = 'starting'
          RETURNING id, epoch`.execute(transaction);
        const ids = new Set(calledOff.map(({ id }) => id));
        const others = runIds.filter((id) => !ids.has(id));
        const query = transaction.selectFrom('run').select(runColumns);
        return { calledOff, begun: await query.where('id', 'in', textsIn(transaction, others)).execute() };
      }, runQueue),
  };
}

export type LauncherStore = ReturnType<typeof createLauncherStore>;

/** Launchers of runs. */
export function createLauncherStore(db: Db) {
  return {
    /** Lists launchers by the IDs of their runs. */
    async list(runIds: readonly string[]): Promise<ReadonlyMap<string, RunLauncher>> {
      const rows = await db
        .selectFrom('run')
        .innerJoin('launch', 'launch.id', 'run.launch')
        .leftJoin('user', 'user.id', 'run.user_id')
        .leftJoin('task', (join) =>
          join.on('task.id', '=', (eb) =>
            // A run may have thousands of tasks: the index gives the first one.
            eb
              .selectFrom('task_attempt')
              .select('task_attempt.task_id')
              .whereRef('task_attempt.run_id', '=', 'run.id')
              .orderBy('task_attempt.began_at')
              .limit(1),
          ),
        )
        .leftJoin('job', 'job.id', 'task.job_id')
        .leftJoin('schedule', 'schedule.id', 'job.schedule_id')
        .select(['run.id', 'run.user_id', 'user.name as user_name', 'launch.token_name'])
        .select([
          'job.id as job_id',
          'task.number as task_number',
          'job.schedule_id',
          'schedule.name as schedule_name',
        ])
        .where('run.id', 'in', textsIn(db, runIds))
        .execute();
      return new Map(
        rows.map(
          ({ id, user_id, user_name, token_name, job_id, task_number, schedule_id, schedule_name }) => [
            id,
            {
              user_id,
              user_name,
              token_name,
              job:
                job_id === null || task_number === null
                  ? null
                  : { job_id, task_number, schedule_id, schedule_name },
            },
          ],
        ),
      );
    },
  };
}
