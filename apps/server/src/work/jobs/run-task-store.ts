import { sql } from 'kysely';
import { roomForTasks } from './task-room-store.ts';
import { isOneSelectorTooMany } from './waiting-selectors-store.ts';
import { invalidateLater } from '../../storage/db/invalidate.ts';
import { change } from '../../storage/db/change-note.ts';
import type { Db, Transaction } from '../../storage/db/database.ts';
import { databaseTime } from '../../storage/db/lease.ts';
import { rowsAs, textsIn } from '../../storage/db/dialect.ts';
import { type KeptToken, limitsTextOf } from '../../http/requests/kept-token.ts';
import type { StoredRun } from '../../runs/runs/stored-run.ts';
import type { StoredJob, StoredTask } from './store.ts';
import { TaskNotStartable, type TaskStore } from './task-store.ts';

export type TaskOfRun = Pick<
  StoredTask,
  'id' | 'job_id' | 'parent_id' | 'number' | 'status' | 'input' | 'result' | 'error_message'
>;

const columns = [
  'task.id',
  'task.job_id',
  'task.parent_id',
  'task.number',
  'task.status',
  'task.input',
  'task.result',
  'task.error_message',
] as const;

/** Run that asks for tasks of its own job, or of another job of the same project and user. */
type JobOfRun = Pick<StoredRun, 'id' | 'launch' | 'user_id' | 'automation_id' | 'device_id'>;

export interface AddedTask {
  readonly id: string;
  /** JSON. */
  readonly input: string | null;
  /** JSON of a task that is added with its result. */
  readonly result: string | null;
  readonly status: 'waiting' | 'completed' | 'failed';
}

const taskColumns = { id: 'text', place: 'bigint', input: 'text', result: 'text', status: 'text' } as const;
const choice = 16;

/**
 * Whether a run may access a job of its user and project. Runs of a limited token may access only jobs with the same
 * limits, because a task starts with the rights of its job.
 */
const isReached = (
  { user_id, automation_id }: JobOfRun,
  limits: string | null,
  job: KeptToken & Pick<StoredJob, 'user_id' | 'project_id'>,
): boolean =>
  job.user_id === user_id &&
  job.project_id === automation_id &&
  (limits === null || limits === limitsTextOf(job));

export type RunTaskStore = ReturnType<typeof createRunTaskStore>;

/** Creates the store of tasks for calls from the code of runs. */
export function createRunTaskStore(db: Db, tasks: Pick<TaskStore, 'claim' | 'listDue'>) {
  const findLimits = async (run: JobOfRun): Promise<string | null> => {
    const query = db.selectFrom('launch').select('token_limits').where('id', '=', run.launch);
    return (await query.executeTakeFirst())?.token_limits ?? null;
  };
  return {
    /** Finds the task that the run took last. */
    findCurrent: (runId: string): Promise<TaskOfRun | undefined> =>
      db
        .selectFrom('task_attempt')
        .innerJoin('task', 'task.id', 'task_attempt.task_id')
        .select(columns)
        .where('task_attempt.run_id', '=', runId)
        .orderBy('task_attempt.began_at', 'desc')
        .orderBy('task_attempt.number', 'desc')
        .limit(1)
        .executeTakeFirst(),

    /** Lists tasks of the run itself and of jobs that it may access. */
    async list(run: JobOfRun, ids: readonly string[]): Promise<TaskOfRun[]> {
      const rows = await db
        .selectFrom('task')
        .innerJoin('job', 'job.id', 'task.job_id')
        .select(columns)
        .select(['task.run_id', 'job.user_id', 'job.project_id'])
        .select(['job.token_name', 'job.token_projects', 'job.token_phones', 'job.token_budget'])
        .where('task.id', 'in', textsIn(db, ids))
        .execute();
      const limits = await findLimits(run);
      return rows.filter((row) => row.run_id === run.id || isReached(run, limits, row));
    },

    async findJob(run: JobOfRun, id: string): Promise<StoredJob | undefined> {
      const job = await db.selectFrom('job').selectAll().where('id', '=', id).executeTakeFirst();
      return job !== undefined && isReached(run, await findLimits(run), job) ? job : undefined;
    },

    /** Claims a waiting task for a run that continues. Returns false when no task can start now. */
    async takeNext(run: JobOfRun, job: StoredJob, now: number): Promise<boolean> {
      const due = await tasks.listDue(job.id, now, choice);
      for (const task of due.toSorted(() => Math.random() - 0.5)) {
        try {
          await change(db, (transaction) => tasks.claim(job, task, now)(transaction, run));
          return true;
        } catch (error) {
          if (!(error instanceof TaskNotStartable)) throw error;
          // Another run has claimed this task.
          if (!error.isTaken) return false;
        }
      }
      return false;
    },

    /** Stores an interim result. Returns false when the task does not belong to this run or has ended. */
    async note(taskId: string, runId: string, data: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('task')
        .set({ result: data })
        .where('id', '=', taskId)
        .where('run_id', '=', runId)
        .where('status', '=', 'running')
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    /** Adds tasks, all or none. Existing tasks stay unchanged. A deleted job counts as cancelled. */
    add: (
      job: StoredJob,
      parentId: string | null,
      added: readonly AddedTask[],
      limits: AddLimits,
    ): Promise<'added' | 'job_cancelled' | 'job_full' | 'too_many_tasks' | 'too_many_selectors'> =>
      change(db, async (transaction) => {
        const room = await roomForTasks(transaction, job.user_id, limits.maxWaiting);
        const open = await transaction
          .selectFrom('job')
          .select(['id'])
          .where('id', '=', job.id)
          .where('cancelled_at', 'is', null)
          .forUpdate()
          .executeTakeFirst();
        const fresh = await withoutKnown(transaction, added);
        if (open === undefined) return 'job_cancelled';
        if (fresh.length > room) return 'too_many_tasks';
        if (await isOneSelectorTooMany(transaction, job)) return 'too_many_selectors';
        if ((await lastNumber(transaction, job.id)) + fresh.length > limits.maxOfJob) return 'job_full';
        await insertTasks(transaction, { job, parentId, fresh, now: limits.now });
        return 'added';
      }),
  };
}

interface AddLimits {
  readonly now: number;
  /** Maximum number of waiting tasks per user. */
  readonly maxWaiting: number;
  /** Maximum number of tasks per job. */
  readonly maxOfJob: number;
}

async function withoutKnown(transaction: Transaction, added: readonly AddedTask[]): Promise<AddedTask[]> {
  const query = transaction.selectFrom('task').select('id');
  const ids = added.map(({ id }) => id);
  const rows = await query.where('id', 'in', textsIn(transaction, ids)).execute();
  const known = new Set(rows.map(({ id }) => id));
  return added.filter(({ id }) => !known.has(id));
}

async function lastNumber(transaction: Transaction, jobId: string): Promise<number> {
  const query = transaction.selectFrom('task').select((eb) => eb.fn.max('number').as('number'));
  const last = await query.where('job_id', '=', jobId).executeTakeFirst();
  return Number(last?.number ?? 0);
}

/** Returns the size of the JSON of tasks in bytes. */
export const bytesOf = (added: readonly AddedTask[]): number =>
  added.reduce(
    (sum, { input, result }) => sum + Buffer.byteLength(input ?? '') + Buffer.byteLength(result ?? ''),
    0,
  );

interface Insertion {
  job: StoredJob;
  parentId: string | null;
  fresh: readonly AddedTask[];
  now: number;
}

async function insertTasks(
  transaction: Transaction,
  { job, parentId, fresh, now }: Insertion,
): Promise<void> {
  if (fresh.length === 0) return;
  const first = (await lastNumber(transaction, job.id)) + 1;
  const rows = fresh.map((task, place) => ({ ...task, place }));
  await sql`INSERT INTO task (id, job_id, number, status, parent_id, input, result, ended_at)
    SELECT own.id, ${job.id}, own.place + ${sql.lit(first)}, own.status, ${parentId}, own.input, own.result,
      CASE WHEN own.status = 'waiting' THEN NULL ELSE ${sql.lit(now)} END
    FROM ${rowsAs(transaction, 'own', taskColumns, rows)}`.execute(transaction);
  const count = (status: AddedTask['status']): number =>
    fresh.filter((task) => task.status === status).length;
  await transaction
    .updateTable('job')
    .set((eb) => ({
      waiting: eb('waiting', '+', count('waiting')),
      completed: eb('completed', '+', count('completed')),
      failed: eb('failed', '+', count('failed')),
      bytes: eb('bytes', '+', bytesOf(fresh)),
      ...(count('waiting') > 0 ? { ended_at: null, woken_at: databaseTime(transaction) } : {}),
    }))
    .where('id', '=', job.id)
    .execute();
  if (count('waiting') > 0) await invalidateLater(transaction, 'jobs');
}
