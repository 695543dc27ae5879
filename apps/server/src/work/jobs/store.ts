import type { JobStatus } from '@phalanx/protocol';
import { sql } from 'kysely';
import { invalidate } from '../../storage/db/invalidate.ts';
import { change } from '../../storage/db/change-note.ts';
import type { Db, Transaction } from '../../storage/db/database.ts';
import { transact } from '../../storage/db/transactions.ts';
import { databaseTime } from '../../storage/db/lease.ts';
import { isListed, type WorkFilter } from '../../storage/db/listed-work.ts';
import { rowsAs, textsIn } from '../../storage/db/dialect.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import type { KeptToken } from '../../http/requests/kept-token.ts';
import { type Budget, requireBudget } from '../../storage/db/token-use.ts';
import { roomForTasks } from './task-room-store.ts';
import { isOneSelectorTooMany } from './waiting-selectors-store.ts';

export type StoredJob = Row<'job'>;
export type NewJob = Omit<
  StoredJob,
  'running' | 'completed' | 'failed' | 'cancelled' | 'problem' | 'woken_at'
>;
export type StoredTask = Row<'task'>;
export type StoredAttempt = Row<'task_attempt'>;
export type NewTask = Pick<StoredTask, 'id' | 'number' | 'input'>;

export interface JobFilter extends WorkFilter {
  isOpen: boolean | undefined;
  limit: number;
}

/**
 * Ends the turn of a schedule in the transaction that stores its job. Returns false when it has already ended in
 * another way.
 */
export type EndTurn = (transaction: Transaction, jobId: string) => Promise<boolean>;

/**
 * Maximum number of tasks per statement. SQLite executes a statement on the event loop, so other work runs only between
 * statements.
 */
const tasksPerStatement = 1000;
const taskColumns = { id: 'text', number: 'bigint', input: 'text' } as const;

export type JobStore = ReturnType<typeof createJobStore>;

/** Creates the store of jobs and the results of their tasks. */
export function createJobStore(db: Db) {
  return {
    /**
     * Stores a job with its tasks. Returns a code when the turn has already ended in another way, when the user would
     * have more than `max` waiting tasks, or when these would have too many selectors. Throws a unique violation (see
     * `isUniqueViolation`) for a used key.
     */
    insert: (
      job: NewJob,
      tasks: readonly NewTask[],
      max: number,
      endTurn?: EndTurn,
    ): Promise<StoredJob | 'too_many_tasks' | 'too_many_selectors' | 'turn_gone'> =>
      change(db, async (transaction) => {
        if (tasks.length > (await roomForTasks(transaction, job.user_id, max))) return 'too_many_tasks';
        if (await isOneSelectorTooMany(transaction, job)) return 'too_many_selectors';
        if (endTurn !== undefined && !(await endTurn(transaction, job.id))) return 'turn_gone';
        const row = await transaction
          .insertInto('job')
          .values({ ...job, woken_at: databaseTime(transaction) })
          .returningAll()
          .executeTakeFirstOrThrow();
        for (let from = 0; from < tasks.length; from += tasksPerStatement) {
          const some = rowsAs(transaction, 'own', taskColumns, tasks.slice(from, from + tasksPerStatement));
          await sql`INSERT INTO task (id, job_id, number, status, input)
            SELECT own.id, ${job.id}, own.number, 'waiting', own.input FROM ${some}`.execute(transaction);
        }
        await invalidate(transaction, 'jobs');
        return row;
      }),

    /** Ends a turn whose job is stored. */
    endTurn: (jobId: string, endTurn: EndTurn): Promise<boolean> =>
      transact(db, (transaction) => endTurn(transaction, jobId)),

    find: (id: string): Promise<StoredJob | undefined> =>
      db.selectFrom('job').selectAll().where('id', '=', id).executeTakeFirst(),

    findByKey: (userId: string, key: string): Promise<StoredJob | undefined> =>
      db
        .selectFrom('job')
        .selectAll()
        .where('user_id', '=', userId)
        .where('dedup_key', '=', key)
        .executeTakeFirst(),

    /** Lists jobs, newest first. */
    list: ({ isOpen, limit, ...filter }: JobFilter): Promise<StoredJob[]> => {
      let query = db.selectFrom('job').selectAll().where(isListed(db, filter));
      if (isOpen !== undefined) query = query.where('ended_at', isOpen ? 'is' : 'is not', null);
      return query.orderBy('id', 'desc').limit(limit).execute();
    },

    /** Whether the schedule has an unfinished job. */
    async hasOpen(scheduleId: string): Promise<boolean> {
      const query = db.selectFrom('job').select('id').where('schedule_id', '=', scheduleId);
      return (await query.where('ended_at', 'is', null).limit(1).executeTakeFirst()) !== undefined;
    },

    /** Lists jobs with waiting tasks that were woken at `since` or later, by the clock of the database. */
    listWaiting: (since = 0): Promise<StoredJob[]> =>
      db.selectFrom('job').selectAll().where('waiting', '>', 0).where('woken_at', '>=', since).execute(),

    /** Counts unfinished tasks by status. It adds up the counts of jobs, few of which are open. */
    async countTasks(): Promise<ReadonlyMap<string, number>> {
      const { rows } = await sql<{ waiting: number; running: number }>`
        SELECT (SELECT coalesce(sum(waiting), 0) FROM job WHERE waiting > 0) AS waiting,
          (SELECT coalesce(sum(running), 0) FROM job WHERE running > 0) AS running`.execute(db);
      return new Map(Object.entries(rows[0] ?? {}).map(([status, count]) => [status, Number(count)]));
    },

    /** Counts the user's waiting tasks that start before those of this job. */
    async countBefore({ id, user_id, priority }: StoredJob): Promise<number> {
      const { waiting } = await db
        .selectFrom('job')
        .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('waiting'), sql.lit(0)).as('waiting'))
        .where('user_id', '=', user_id)
        .where('waiting', '>', 0)
        .where((eb) =>
          eb.or([eb('priority', '>', priority), eb.and([eb('priority', '=', priority), eb('id', '<', id)])]),
        )
        .executeTakeFirstOrThrow();
      return Number(waiting);
    },

    /** Lists tasks in the order of the inputs. `after` is the ID of the preceding task. */
    async listTasks(
      jobId: string,
      { status, after, limit }: { status: JobStatus | undefined; after: string | undefined; limit: number },
    ): Promise<{ task: StoredTask; attempts: StoredAttempt[] }[]> {
      let query = db.selectFrom('task').selectAll().where('job_id', '=', jobId);
      if (status !== undefined) query = query.where('status', '=', status);
      if (after !== undefined)
        query = query.where('number', '>', (eb) =>
          eb.selectFrom('task').select('number').where('id', '=', after).where('job_id', '=', jobId),
        );
      const tasks = await query.orderBy('number').limit(limit).execute();
      const ids = tasks.map(({ id }) => id);
      const attempts = await db
        .selectFrom('task_attempt')
        .selectAll()
        .where('task_id', 'in', textsIn(db, ids))
        .orderBy('number')
        .execute();
      const ofTask = Map.groupBy(attempts, ({ task_id }) => task_id);
      return tasks.map((task) => ({ task, attempts: ofTask.get(task.id) ?? [] }));
    },

    /**
     * Cancels a job: its waiting tasks never start. Returns the runs that must be stopped, or undefined when the job
     * has ended.
     */
    cancel: (id: string, now: number): Promise<string[] | undefined> =>
      change(db, async (transaction) => {
        const job = await lockOpen(transaction, id);
        if (job === undefined) return undefined;
        const count = await endWaiting(
          transaction,
          id,
          { status: 'cancelled', code: null, message: null },
          now,
        );
        await transaction
          .updateTable('job')
          .set((eb) => ({
            waiting: 0,
            cancelled: eb('cancelled', '+', count),
            cancelled_at: now,
            ended_at: job.running === 0 ? now : null,
          }))
          .where('id', '=', id)
          .execute();
        await invalidate(transaction, 'jobs');
        const running = transaction.selectFrom('task').select('run_id').where('job_id', '=', id);
        const rows = await running.where('status', '=', 'running').execute();
        return rows.flatMap(({ run_id }) => run_id ?? []);
      }),

    /** Requeues failed and cancelled tasks. All waiting tasks then start as the new maker. Throws `budget_spent`. */
    resume: (
      { id, user_id: before }: StoredJob,
      maker: KeptToken & Pick<StoredJob, 'user_id' | 'at_once'>,
      { budget, max, now }: { budget: Budget | null; max: number; now: number },
    ): Promise<'resumed' | 'nothing' | 'too_many_tasks' | 'too_many_selectors'> =>
      change(db, async (transaction) => {
        const { user_id: userId } = maker;
        if (budget !== null) await requireBudget(transaction, budget, { runs: 1, now });
        const room = await roomForTasks(transaction, userId, max);
        const job = await transaction
          .selectFrom('job')
          .select(['waiting', 'failed', 'cancelled', 'selector'])
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst();
        if (job === undefined || job.failed + job.cancelled === 0) return 'nothing';
        const more = job.failed + job.cancelled + (userId === before ? 0 : job.waiting);
        if (more > room) return 'too_many_tasks';
        if (await isOneSelectorTooMany(transaction, { ...maker, selector: job.selector }))
          return 'too_many_selectors';
        const { numUpdatedRows } = await transaction
          .updateTable('task')
          .set({
            status: 'waiting',
            attempts: 0,
            due_at: 0,
            ended_at: null,
            error_code: null,
            error_message: null,
          })
          .where('job_id', '=', id)
          .where('status', 'in', ['failed', 'cancelled'])
          .executeTakeFirst();
        await transaction
          .updateTable('job')
          .set((eb) => ({
            ...maker,
            // A key is unique per maker.
            ...(userId === before ? {} : { dedup_key: null }),
            waiting: eb('waiting', '+', Number(numUpdatedRows)),
            failed: 0,
            cancelled: 0,
            cancelled_at: null,
            ended_at: null,
            wait_until: null,
            problem: '',
            woken_at: databaseTime(transaction),
          }))
          .where('id', '=', id)
          .execute();
        await invalidate(transaction, 'jobs');
        return 'resumed';
      }),

    /** Fails all waiting tasks of the job, for one reason. */
    failWaiting: (id: string, error: { code: string; message: string }, now: number): Promise<void> =>
      change(db, async (transaction) => {
        const job = await lockOpen(transaction, id);
        if (job === undefined) return;
        await fail(transaction, job, { ...error, now });
      }),

    /** Fails tasks that have not started within the wait time of their job. */
    expire: (now: number, error: { code: string; message: string }): Promise<void> =>
      change(db, async (transaction) => {
        const due = await transaction
          .selectFrom('job')
          .selectAll()
          .where('waiting', '>', 0)
          // The partial index covers only these rows.
          .where('wait_until', 'is not', null)
          .where('wait_until', '<=', now)
          .orderBy('id')
          .forUpdate()
          .execute();
        for (const job of due) await fail(transaction, job, { ...error, now });
      }),

    /**
     * Returns the time at which the next job expires, or the next task is due after `now`; undefined when there is
     * none.
     */
    async findNextDue(now: number): Promise<number | undefined> {
      const limits = db.selectFrom('job').select((eb) => eb.fn.min('wait_until').as('at'));
      const limit = await limits
        .where('waiting', '>', 0)
        .where('wait_until', 'is not', null)
        .executeTakeFirst();
      const retries = db.selectFrom('task').select((eb) => eb.fn.min('due_at').as('at'));
      const retry = await retries
        .where('status', '=', 'waiting')
        // The partial index covers only these rows.
        .where('due_at', '>', sql.lit(0))
        .where('due_at', '>', now)
        .executeTakeFirst();
      const times = [limit?.at, retry?.at].flatMap((at) =>
        at === null || at === undefined ? [] : Number(at),
      );
      return times.length === 0 ? undefined : Math.min(...times);
    },

    /** Deletes a job. Returns false when it has not ended. */
    delete: (id: string): Promise<boolean> =>
      change(db, async (transaction) => {
        const query = transaction.deleteFrom('job').where('id', '=', id).where('ended_at', 'is not', null);
        return (await query.executeTakeFirst()).numDeletedRows > 0n;
      }),

    async deleteEndedBefore(time: number): Promise<void> {
      await db.deleteFrom('job').where('ended_at', '<', time).execute();
    },
  };
}

const lockOpen = (transaction: Transaction, id: string): Promise<StoredJob | undefined> =>
  transaction
    .selectFrom('job')
    .selectAll()
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();

interface End {
  status: 'failed' | 'cancelled';
  code: string | null;
  message: string | null;
}

async function endWaiting(transaction: Transaction, jobId: string, end: End, now: number): Promise<number> {
  const { status, code: error_code, message: error_message } = end;
  const { numUpdatedRows } = await transaction
    .updateTable('task')
    .set({ status, error_code, error_message, ended_at: now })
    .where('job_id', '=', jobId)
    .where('status', '=', 'waiting')
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

async function fail(
  transaction: Transaction,
  job: StoredJob,
  { code, message, now }: { code: string; message: string; now: number },
): Promise<void> {
  const count = await endWaiting(transaction, job.id, { status: 'failed', code, message }, now);
  await transaction
    .updateTable('job')
    .set((eb) => ({
      waiting: 0,
      wait_until: null,
      problem: message,
      ended_at: job.running === 0 ? now : null,
      failed: eb('failed', '+', count),
    }))
    .where('id', '=', job.id)
    .execute();
}
