import { sql } from 'kysely';
import type { Db, Transaction } from '../../storage/db/database.ts';
import type { GroupCommit, Write } from '../../storage/db/group-commit.ts';
import { invalidateLater } from '../../storage/db/invalidate.ts';
import { databaseTime } from '../../storage/db/lease.ts';
import { roomWithin } from '../../storage/db/quota.ts';
import { textsIn } from '../../storage/db/dialect.ts';
import type { StoredRun } from '../../runs/runs/stored-run.ts';
import { type Verdict, verdictOf } from '../../runs/runs/run-verdict.ts';
import { pauseAfter, readRetries } from './retry-rule.ts';
import type { StoredJob, StoredTask } from './store.ts';

/** Error of a task that cannot start now, although its caller assumed that it could. */
export class TaskNotStartable extends Error {
  override readonly name = 'TaskNotStartable';
  /**
   * Whether another server has started the task. False when there is no place for it, or the phone is not free for it.
   */
  readonly isTaken: boolean;

  constructor(isTaken = false) {
    super('the task cannot begin now');
    this.isTaken = isTaken;
  }
}

/** Effects of settled runs on their tasks. */
export interface Settled {
  readonly userIds: ReadonlySet<string>;
  /** Whether other tasks may start now, on any phone. */
  readonly isPlaceFree: boolean;
  /** Whether a task waits for a retry. */
  readonly isAgain: boolean;
}

type EndedRun = Pick<StoredRun, 'id' | 'status' | 'outcome' | 'error_code' | 'error_message' | 'started_at'>;
type WaitingTask = Pick<StoredTask, 'id' | 'input' | 'device_id' | 'due_at'>;

const maxAtOnce = 500;

export type TaskStore = ReturnType<typeof createTaskStore>;

/** Creates the store that starts and ends tasks. */
export function createTaskStore(db: Db, commits: GroupCommit) {
  return {
    listDue: (jobId: string, now: number, limit: number): Promise<WaitingTask[]> =>
      db
        .selectFrom('task')
        .select(['id', 'input', 'device_id', 'due_at'])
        .where('job_id', '=', jobId)
        .where('status', '=', 'waiting')
        .where('due_at', '<=', now)
        .orderBy('number')
        .limit(limit)
        .execute(),

    /** Claims a task in the transaction that stores its run. Throws `TaskNotStartable`. */
    claim:
      (job: StoredJob, { id: taskId, due_at }: Pick<WaitingTask, 'id' | 'due_at'>, now: number) =>
      async (transaction: Transaction, run: Pick<StoredRun, 'id' | 'device_id'>): Promise<void> => {
        await takePlace(transaction, job);
        await takePhone(transaction, job, run);
        const { numUpdatedRows } = await transaction
          .updateTable('task')
          .set((eb) => ({
            status: 'running',
            run_id: run.id,
            device_id: run.device_id,
            due_at: 0,
            attempts: eb('attempts', '+', 1),
          }))
          .where('id', '=', taskId)
          .where('status', '=', 'waiting')
          .executeTakeFirst();
        if (numUpdatedRows === 0n) throw new TaskNotStartable(true);
        await sql`INSERT INTO task_attempt (task_id, number, run_id, device_id, waiting_since, began_at, reason)
          SELECT ${taskId}, coalesce(max(number), 0) + 1, ${run.id}, ${run.device_id},
            ${Math.max(job.created_at, due_at)}, ${now}, 'running'
          FROM task_attempt WHERE task_id = ${taskId}`.execute(transaction);
      },

    /**
     * Stores the effects of ended runs on their tasks. Ignores runs without a task and runs that are already settled.
     */
    settle: (runs: readonly EndedRun[], now: number): Promise<Settled> => commits.write(settleAll(runs, now)),

    /** Stores the verdict of a run's code on its task, however the run ends. Returns undefined when it is too late. */
    submit: (submission: Submission, now: number): Promise<Settled | undefined> =>
      commits.write(submitOne(submission, now)),

    /** Lists ended runs whose tasks no server has settled. */
    listUnsettled: (): Promise<EndedRun[]> =>
      db
        .selectFrom('task')
        .innerJoin('run', 'run.id', 'task.run_id')
        .select([
          'run.id',
          'run.status',
          'run.outcome',
          'run.error_code',
          'run.error_message',
          'run.started_at',
        ])
        .where('task.status', '=', 'running')
        .where('run.ended_at', 'is not', null)
        .limit(maxAtOnce)
        .execute(),
  };
}

/** Claims one of the concurrent places of the job and of its concurrency key. */
async function takePlace(transaction: Transaction, job: StoredJob): Promise<void> {
  const { id, user_id, concurrency_key: key, concurrency_most: max } = job;
  const { token_projects, token_phones, token_budget } = job;
  if (key !== null && max !== null) {
    const room = await roomWithin(
      transaction,
      { kind: 'tasks', owner: `${user_id} ${key}`, max },
      async () => {
        const { running } = await transaction
          .selectFrom('job')
          .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('running'), sql.lit(0)).as('running'))
          .where('user_id', '=', user_id)
          .where('concurrency_key', '=', key)
          .where('running', '>', 0)
          .executeTakeFirstOrThrow();
        return Number(running);
      },
    );
    if (room < 1) throw new TaskNotStartable();
  }
  const { numUpdatedRows } = await transaction
    .updateTable('job')
    .set((eb) => ({ waiting: eb('waiting', '-', 1), running: eb('running', '+', 1) }))
    .where('id', '=', id)
    .where('waiting', '>', 0)
    // The maker may have changed since the job was read.
    .where('user_id', '=', user_id)
    .where(sql<boolean>`coalesce(token_projects, '') = ${token_projects ?? ''}`)
    .where(sql<boolean>`coalesce(token_phones, '') = ${token_phones ?? ''}`)
    .where(sql<boolean>`coalesce(token_budget, '') = ${token_budget ?? ''}`)
    .where((eb) => eb.or([eb('at_once', 'is', null), eb('running', '<', eb.ref('at_once'))]))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new TaskNotStartable();
}

async function takePhone(
  transaction: Transaction,
  job: StoredJob,
  run: Pick<StoredRun, 'id' | 'device_id'>,
): Promise<void> {
  if (job.is_exclusive === 1) {
    const others = transaction.selectFrom('run').select('id').where('device_id', '=', run.device_id);
    const other = await others
      .where('ended_at', 'is', null)
      .where('id', '<>', run.id)
      .limit(1)
      .executeTakeFirst();
    if (other !== undefined) throw new TaskNotStartable();
  }
  if (job.is_distinct === 0) return;
  const used = await transaction
    .selectFrom('task')
    .select('id')
    .where('job_id', '=', job.id)
    .where('device_id', '=', run.device_id)
    .where('status', 'in', ['running', 'completed'])
    .limit(1)
    .executeTakeFirst();
  if (used !== undefined) throw new TaskNotStartable();
}

function settleAll(runs: readonly EndedRun[], now: number): Write<Settled> {
  return async (transaction) => {
    const byId = new Map(runs.map((run) => [run.id, run]));
    const tasks = await transaction
      .selectFrom('task')
      .innerJoin('job', 'job.id', 'task.job_id')
      .select(['task.id', 'task.run_id', 'task.attempts', 'task.job_id'])
      .select(['job.user_id', 'job.retries', 'job.cancelled_at'])
      .select(['job.at_once', 'job.concurrency_key'])
      .where('task.run_id', 'in', textsIn(transaction, [...byId.keys()]))
      .where('task.status', '=', 'running')
      .orderBy('task.job_id')
      .execute();
    let isAgain = false;
    for (const task of tasks) {
      const run = byId.get(task.run_id ?? '');
      if (run === undefined) continue;
      if (await settleOne(transaction, { task, end: endOf(run), now })) isAgain = true;
    }
    return settled(transaction, tasks, isAgain);
  };
}

type LimitedJob = Pick<StoredJob, 'user_id' | 'at_once' | 'concurrency_key'>;

async function settled(
  transaction: Transaction,
  tasks: readonly LimitedJob[],
  isAgain: boolean,
): Promise<Settled> {
  if (isAgain) await invalidateLater(transaction, 'jobs');
  const isPlaceFree =
    isAgain || tasks.some(({ at_once, concurrency_key }) => at_once !== null || concurrency_key !== null);
  return { userIds: new Set(tasks.map(({ user_id }) => user_id)), isPlaceFree, isAgain };
}

/** Verdict of a run's code on its task before the run has ended. */
export interface Submission {
  readonly taskId: string;
  readonly runId: string;
  readonly status: 'success' | 'failed' | 'declined';
  /** JSON. */
  readonly data: string;
}

const submittedEnds = {
  success: { verdict: 'completed', mayRetry: false, code: null, message: null },
  failed: {
    verdict: 'error',
    mayRetry: true,
    code: 'task_failed',
    message: 'The code has submitted the task as failed.',
  },
  declined: {
    verdict: 'error',
    mayRetry: false,
    code: 'task_declined',
    message: 'The code has declined the input of the task.',
  },
} as const;

/** Settles the task of a submission. Returns undefined when the task does not belong to this run or has ended. */
function submitOne({ taskId, runId, status, data }: Submission, now: number): Write<Settled | undefined> {
  return async (transaction) => {
    const task = await transaction
      .selectFrom('task')
      .innerJoin('job', 'job.id', 'task.job_id')
      .select(['task.id', 'task.run_id', 'task.attempts', 'task.job_id'])
      .select(['job.user_id', 'job.retries', 'job.cancelled_at', 'job.at_once', 'job.concurrency_key'])
      .where('task.id', '=', taskId)
      .where('task.run_id', '=', runId)
      .where('task.status', '=', 'running')
      .executeTakeFirst();
    if (task === undefined) return undefined;
    const end = { ...submittedEnds[status], runId, hasArrived: true, result: data };
    return settled(transaction, [task], await settleOne(transaction, { task, end, now }));
  };
}

interface TaskEnd {
  readonly runId: string;
  readonly verdict: Verdict;
  /** Whether the retry rule of the job applies. */
  readonly mayRetry: boolean;
  /** Whether the code reached its host. If not, nothing was tried, and the retry rule does not count the attempt. */
  readonly hasArrived: boolean;
  readonly code: string | null;
  readonly message: string | null;
  /** JSON; undefined keeps the result that the run has left, or else the previous result. */
  readonly result?: string;
}

function endOf(run: EndedRun): TaskEnd {
  const verdict = verdictOf(run);
  const isDone = verdict === 'completed';
  return {
    runId: run.id,
    verdict,
    mayRetry: !isDone && verdict !== 'cancelled',
    hasArrived: run.error_code !== 'not_started',
    code: isDone ? null : (run.error_code ?? verdict),
    message: isDone ? null : (run.error_message ?? run.status),
  };
}

/**
 * Counts all runs, including those that did not reach their host: a task that breaks its host must not be retried every
 * two seconds.
 */
async function countRuns(transaction: Transaction, taskId: string): Promise<number> {
  const rows = transaction.selectFrom('task_attempt').where('task_id', '=', taskId);
  const { runs } = await rows.select((eb) => eb.fn.max('number').as('runs')).executeTakeFirstOrThrow();
  return Number(runs);
}

interface Settling {
  task: Pick<StoredTask, 'id' | 'attempts' | 'job_id'> & Pick<StoredJob, 'retries' | 'cancelled_at'>;
  end: TaskEnd;
  now: number;
}

/** Settles a task. Returns true when it waits for a retry. */
async function settleOne(transaction: Transaction, { task, end, now }: Settling): Promise<boolean> {
  const { runId, verdict, hasArrived, code, message, result } = end;
  const { most, on } = readRetries(task.retries);
  const isAllowed = on.some((reason) => reason === verdict) && task.attempts <= most;
  const isRetried = end.mayRetry && task.cancelled_at === null && (isAllowed || !hasArrived);
  const ended = verdict === 'completed' || verdict === 'cancelled' ? verdict : 'failed';
  const status = isRetried
    ? 'waiting'
    : task.cancelled_at !== null && ended === 'failed'
      ? 'cancelled'
      : ended;
  const reason = verdict === 'completed' ? verdict : `${verdict}: ${message ?? ''}`;
  const left = sql<string | null>`coalesce((SELECT json FROM run_result WHERE run_id = ${runId}), result)`;
  const { numUpdatedRows } = await transaction
    .updateTable('task')
    .set({
      status,
      due_at: isRetried ? now + pauseAfter(await countRuns(transaction, task.id)) : 0,
      attempts: hasArrived ? task.attempts : task.attempts - 1,
      ended_at: isRetried ? null : now,
      error_code: code,
      error_message: message,
      result: result ?? left,
    })
    .where('id', '=', task.id)
    .where('run_id', '=', runId)
    .where('status', '=', 'running')
    .executeTakeFirst();
  // Another server has settled the task.
  if (numUpdatedRows === 0n) return false;
  const attempt = transaction.updateTable('task_attempt').set({ ended_at: now, reason });
  await attempt
    .where('run_id', '=', runId)
    .where('task_id', '=', task.id)
    .where('ended_at', 'is', null)
    .execute();
  await transaction
    .updateTable('job')
    .set((eb) => ({
      running: eb('running', '-', 1),
      [status]: eb(status, '+', 1),
      ...(isRetried ? { woken_at: databaseTime(transaction) } : {}),
    }))
    .where('id', '=', task.job_id)
    .execute();
  await transaction
    .updateTable('job')
    .set({ ended_at: now })
    .where('id', '=', task.job_id)
    .where('waiting', '=', 0)
    .where('running', '=', 0)
    .where('ended_at', 'is', null)
    .execute();
  return isRetried;
}
