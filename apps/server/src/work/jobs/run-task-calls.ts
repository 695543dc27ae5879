import { maxInputs, type RunTask, type RunTaskCall, runTaskRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { addRoute } from '../../http/requests/route.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import { problemOfResult, readResult } from '../../runs/runs/run-result.ts';
import type { FindRunOfHost, StoredRun } from '../../runs/runs/stored-run.ts';
import { tooManySelectors } from './create-job.ts';
import type { JobRunner } from './job-runner.ts';
import { type AddedTask, bytesOf, type RunTaskStore, type TaskOfRun } from './run-task-store.ts';
import type { StoredJob } from './store.ts';
import type { TaskStore } from './task-store.ts';

interface Options {
  store: RunTaskStore;
  tasks: TaskStore;
  runner: JobRunner;
  findRunOfHost: FindRunOfHost;
  clock: Clock;
  limits: Pick<Limits, 'withRoom'>;
  maxTasks: number;
}

type CallOf<Name extends RunTaskCall['call']> = Extract<RunTaskCall, { call: Name }>;

/** `POST /hosts/runs/:run_id/tasks`: calls of a run's code to its job, through its host. */
export function addRunTaskCalls(app: FastifyInstance, options: Options): void {
  const calls = new RunTaskCalls(options);
  addRoute(app, runTaskRoutes.call, async ({ principal, params, body }) => {
    const run = await options.findRunOfHost(params.run_id.toLowerCase(), principal);
    if (run === undefined || run.ended_at !== null)
      throw ApiError.of('run_not_found', { run_id: params.run_id });
    return { success: true, tasks: (await calls.answer(run, body)).map(taskView) };
  });
}

const jobNotFound = (id: string): ApiError => ApiError.of('job_not_found', { job_id: id });

/** Answers calls of runs. Calls are idempotent, because a host that received no answer may ask again. */
class RunTaskCalls {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async answer(run: StoredRun, call: RunTaskCall): Promise<TaskOfRun[]> {
    const { store } = this.#options;
    if (call.call === 'list')
      return store.list(
        run,
        call.ids.map((id) => id.toLowerCase()),
      );
    const current = await store.findCurrent(run.id);
    if (call.call === 'current') return current === undefined ? [] : [current];
    if (call.call === 'next') return this.#next(run, current, call);
    if (call.call === 'submit') return this.#submit(run, call);
    if (call.call === 'add') return this.#add(run, current, call);
    return this.#submitElsewhere(run, current, call);
  }

  async #next(
    run: StoredRun,
    current: TaskOfRun | undefined,
    { after }: CallOf<'next'>,
  ): Promise<TaskOfRun[]> {
    const { store, clock } = this.#options;
    if (current === undefined) return [];
    // The answer to the same call was lost.
    if (current.id !== after.toLowerCase()) return [current];
    const job = await store.findJob(run, current.job_id);
    if (job === undefined || !(await store.takeNext(run, job, clock.now()))) return [];
    return [(await store.findCurrent(run.id)) ?? current];
  }

  #submit(run: StoredRun, call: CallOf<'submit'>): Promise<TaskOfRun[]> {
    requireObject(call.data);
    const stored = { userId: run.user_id, bytes: Buffer.byteLength(call.data) };
    return this.#options.limits.withRoom('work_bytes', stored, () => this.#store(run, call));
  }

  async #store(run: StoredRun, { task_id, status, is_final, data }: CallOf<'submit'>): Promise<TaskOfRun[]> {
    const { store, tasks, runner, clock } = this.#options;
    const taskId = task_id.toLowerCase();
    if (!is_final || status === 'running') {
      if (!(await store.note(taskId, run.id, data))) throw ApiError.of('task_ended', { task_id });
      return store.list(run, [taskId]);
    }
    const settled = await tasks.submit({ taskId, runId: run.id, status, data }, clock.now());
    if (settled === undefined) return this.#submittedBefore(run, taskId, data);
    await runner.noteSettled(settled);
    return store.list(run, [taskId]);
  }

  /** Answers a repeated submission, whose first answer was lost. Throws `task_ended` for another submission. */
  async #submittedBefore(run: StoredRun, taskId: string, data: string): Promise<TaskOfRun[]> {
    const current = await this.#options.store.findCurrent(run.id);
    if (current?.id === taskId && current.result === data) return [current];
    throw ApiError.of('task_ended', { task_id: taskId });
  }

  async #add(run: StoredRun, current: TaskOfRun | undefined, call: CallOf<'add'>): Promise<TaskOfRun[]> {
    const jobId = call.job_id?.toLowerCase() ?? current?.job_id;
    if (jobId === undefined) return [];
    const added = call.tasks.map(({ id, input }) => {
      requireObject(input);
      return { id: id.toLowerCase(), input, result: null, status: 'waiting' as const };
    });
    return this.#insert(run, jobId, { parentId: current?.id ?? null, added });
  }

  async #submitElsewhere(
    run: StoredRun,
    current: TaskOfRun | undefined,
    { id, job_id: jobId, is_success, data }: CallOf<'submit_elsewhere'>,
  ): Promise<TaskOfRun[]> {
    requireObject(data);
    const status = is_success ? ('completed' as const) : ('failed' as const);
    const added = [{ id: id.toLowerCase(), input: null, result: data, status }];
    return this.#insert(run, jobId.toLowerCase(), { parentId: current?.id ?? null, added });
  }

  async #insert(
    run: StoredRun,
    jobId: string,
    { parentId, added }: { parentId: string | null; added: readonly AddedTask[] },
  ): Promise<TaskOfRun[]> {
    const { store, runner, clock, maxTasks } = this.#options;
    const job: StoredJob | undefined = await store.findJob(run, jobId);
    if (job === undefined) throw jobNotFound(jobId);
    const limits = { now: clock.now(), maxWaiting: maxTasks, maxOfJob: maxInputs };
    const stored = { userId: job.user_id, bytes: bytesOf(added) };
    const outcome = await this.#options.limits.withRoom('work_bytes', stored, () =>
      store.add(job, parentId, added, limits),
    );
    if (outcome === 'job_cancelled') throw ApiError.of(outcome, { job_id: jobId });
    if (outcome === 'job_full') throw ApiError.of(outcome, { job_id: jobId, limit: maxInputs });
    if (outcome === 'too_many_tasks') throw ApiError.of(outcome, { limit: maxTasks }, { retryAfterS: 60 });
    if (outcome === 'too_many_selectors') throw tooManySelectors();
    await runner.catchUp();
    const found = await store.list(
      run,
      added.map(({ id }) => id),
    );
    return found.toSorted((one, other) => one.number - other.number);
  }
}

function requireObject(text: string): void {
  const problem = problemOfResult(text);
  if (problem !== undefined)
    throw ApiError.of('invalid_request', { problem: `The JSON of a task ${problem}` });
  if (isObject(readResult(text))) return;
  throw ApiError.of('invalid_request', {
    problem: 'Input and data of a task are the JSON text of an object',
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function taskView({ error_message: comment, input, result, ...task }: TaskOfRun): RunTask {
  const given = readResult(input);
  return {
    id: task.id,
    job_id: task.job_id,
    parent_id: task.parent_id,
    number: task.number,
    status: task.status,
    comment,
    result: readResult(result),
    input: isObject(given) ? given : null,
  };
}
