import { Type, type Static } from 'typebox';
import { EpochMs, Id, Uuid } from '../../ids.ts';
import { Selector } from '../../phones/device-selector.ts';
import { PhoneSettings, phoneSettings } from '../../phones/phone-settings.ts';
import { RunError } from '../../runs/runs.ts';
import {
  JsonObject,
  jsonObject,
  success,
  SuccessMessage,
  type RouteContract,
  nullable,
} from '../contract.ts';
import { film } from '../runs/film.ts';
import { idPageQuery, pageOf } from '../page.ts';

/** Ends of a run after which its task is retried. A stop by a person is not among them. */
export const retryReasons = ['lost', 'phone', 'error', 'timeout', 'out_of_steps'] as const;
export const RetryReason = Type.Enum(retryReasons, {
  description:
    '`lost`: it is unknown how the run ended · `phone`: the device or its host failed · `error`: the code failed · `timeout`: the run timed out · `out_of_steps`: the run was out of steps',
});
export type RetryReason = Static<typeof RetryReason>;
export const defaultRetries = { most: 3, on: ['lost', 'phone'] } as const satisfies {
  most: number;
  on: readonly RetryReason[];
};

const retryCount = Type.Integer({ minimum: 0, maximum: 20 });
export const Retries = Type.Object({
  most: retryCount,
  on: Type.Array(RetryReason, { maxItems: retryReasons.length }),
});
export type Retries = Static<typeof Retries>;

export const maxInputs = 10_000;

/** Fields that jobs and schedules share: a schedule creates the same job repeatedly. */
export const workFields = {
  selector: Type.Optional(Selector),
  device_ids: Type.Optional(
    Type.Array(Id, {
      minItems: 1,
      maxItems: 1000,
      description: 'IDs of the only devices to use, instead of `selector`',
    }),
  ),
  count: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description:
        'Without `inputs`: number of runs, each on a different device (default: one, or one for each of `device_ids`). With `inputs`: maximum number of devices at the same time',
    }),
  ),
  parameters: Type.Optional(jsonObject({ examples: [{ greeting: 'Hello' }] })),
  priority: Type.Optional(
    Type.Integer({
      minimum: -100,
      maximum: 100,
      description: 'Priority among your own jobs: higher values start first. Default 0',
    }),
  ),
  wait_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 30 * 86_400,
      description:
        'Maximum waiting time, in seconds; tasks that have not started by then fail. Default: unlimited',
    }),
  ),
  retries: Type.Optional(
    Type.Union([retryCount, Retries], {
      description: `Maximum number of retries of a task, and the reasons to retry it. A number sets \`most\`. Default \`${JSON.stringify(defaultRetries)}\``,
    }),
  ),
  exclusive: Type.Optional(
    Type.Boolean({
      description: 'Whether to use only devices without another run. Default true',
      default: true,
    }),
  ),
  film,
  phone_settings: phoneSettings,
  concurrency: Type.Optional(
    Type.Object(
      {
        key: Type.String({ minLength: 1, maxLength: 200 }),
        most: Type.Integer({ minimum: 1, maximum: 10_000 }),
      },
      {
        description:
          'Concurrency limit: at most `most` tasks of your jobs with the same `key` run at the same time. Default: none',
      },
    ),
  ),
};

export const JobBody = Type.Object({
  automation_id: Id,
  ...workFields,
  inputs: Type.Optional(
    Type.Array(JsonObject, {
      minItems: 1,
      maxItems: maxInputs,
      description: 'Inputs, one task for each: the code reads its input from `agent.arguments.jobVariables`',
    }),
  ),
  inputs_text: Type.Optional(
    Type.String({
      maxLength: 5 * 1024 * 1024,
      description:
        'Inputs as text, instead of `inputs`: CSV with a header line of up to 200 column names, or JSON lines. Values are separated by commas, or by semicolons or tabs if the header line has no comma. A value has at most 64 KiB',
      examples: ['name,city\nAda,London\n'],
    }),
  ),
  key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Idempotency key: a repeated request with the same key returns the first job, as long as that is kept, and creates no other',
    }),
  ),
});
export type JobBody = Static<typeof JobBody>;

export const JobStatus = Type.Enum(['waiting', 'running', 'completed', 'failed', 'cancelled'] as const, {
  title: 'JobStatus',
});
export type JobStatus = Static<typeof JobStatus>;

const counts = Type.Object({
  waiting: Type.Integer(),
  running: Type.Integer(),
  completed: Type.Integer(),
  failed: Type.Integer(),
  cancelled: Type.Integer(),
});

export const Job = Type.Object(
  {
    id: Uuid,
    automation_id: Type.String(),
    project_name: Type.String({ description: 'Name of the project when the job was created' }),
    user: Type.Object({ id: Type.String(), name: Type.String() }),
    status: JobStatus,
    reason: Type.String({ description: 'Why the job waits or failed, in a sentence; else empty' }),
    place: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Number of your own tasks that start before its next one; null if none of its tasks waits',
    }),
    tasks: counts,
    selector: nullable(Type.String()),
    device_ids: Type.Union([Type.Array(Type.String()), Type.Null()]),
    count: Type.Union([Type.Integer(), Type.Null()]),
    priority: Type.Integer(),
    retries: Retries,
    exclusive: Type.Boolean(),
    film: Type.Boolean(),
    phone_settings: Type.Union([PhoneSettings, Type.Null()]),
    key: nullable(Type.String()),
    schedule_id: nullable(Type.String()),
    wait_until: nullable(EpochMs),
    created_at: EpochMs,
    ended_at: nullable(EpochMs),
  },
  { title: 'Job' },
);
export type Job = Static<typeof Job>;

export const TaskAttempt = Type.Object(
  {
    run_id: Type.String(),
    device_id: Type.String(),
    began_at: EpochMs,
    ended_at: nullable(EpochMs),
    reason: Type.String({
      description: 'Result of the attempt: `running`, `completed`, or the reason why it did not complete',
    }),
  },
  { title: 'TaskAttempt' },
);

export const Task = Type.Object(
  {
    id: Uuid,
    number: Type.Integer({ description: 'Number of the task among the inputs, from 1' }),
    status: JobStatus,
    parent_id: nullable(
      Type.String({ description: 'ID of the task whose code added it; null if it is from the inputs' }),
    ),
    input: Type.Union([JsonObject, Type.Null()]),
    result: Type.Unknown({
      description:
        'Result that the code set with `agent.control.setResult` or `submitTask`; null without one',
    }),
    error: Type.Union([RunError, Type.Null()]),
    run_id: nullable(Type.String({ description: 'ID of its newest run; null before the first' })),
    device_id: nullable(Type.String()),
    due_at: Type.Union([EpochMs, Type.Null()], {
      description: 'Time of the next retry; null if none is planned',
    }),
    attempts: Type.Array(TaskAttempt),
    ended_at: nullable(EpochMs),
  },
  { title: 'Task' },
);
export type Task = Static<typeof Task>;

const params = Type.Object({ id: Id });
const job = Type.Object({ success, job: Job });

/** Jobs: runs that wait for phones. */
export const jobRoutes = {
  create: {
    method: 'POST',
    path: '/api/v2/jobs',
    operationId: 'createJob',
    tag: 'Jobs',
    summary: 'Create a job, which runs a saved project on devices as soon as they are free',
    description:
      'The job waits for matching devices. Each task is run once; a task whose device or host failed is retried as `retries` says, and each attempt is a separate run. Devices are shared fairly between users.',
    scope: 'launch',
    reach: { projects: 'within', phones: 'work', budget: 'within' },
    audit: 'create_job',
    body: JobBody,
    bodyExample: {
      automation_id: '01a1ff14-6b1c-7c33-9d1a-0f2a6a3c5e77',
      selector: 'country=de,model~Pixel',
      count: 5,
    },
    bodyLimitBytes: 5 * 1024 * 1024,
    responses: { 201: job },
    errors: [
      'project_not_found',
      'devices_unavailable',
      'invalid_selector',
      'invalid_inputs',
      'invalid_parameters',
      'invalid_parameter_schema',
      'job_key_conflict',
      'secret_in_job',
      'secrets_unavailable',
      'too_many_tasks',
      'too_many_selectors',
      'work_bytes_exceeded',
    ],
  },
  list: {
    method: 'GET',
    path: '/api/v2/jobs',
    operationId: 'listJobs',
    tag: 'Jobs',
    summary: 'List your jobs, newest first',
    scope: 'read',
    reach: { projects: 'within', phones: 'kept' },
    query: Type.Object({
      ...idPageQuery,
      automation_id: Type.Optional(Id),
      open: Type.Optional(
        Type.Enum(['true', 'false'] as const, {
          description:
            '`true`: only jobs that have not ended. `false`: only jobs that have ended. Default: both',
        }),
      ),
    }),
    responses: { 200: pageOf({ jobs: Type.Array(Job) }) },
  },
  get: {
    method: 'GET',
    path: '/api/v2/jobs/:id',
    operationId: 'getJob',
    tag: 'Jobs',
    summary: 'Read one job: its number of tasks by status, its place in the queue, and why it waits',
    scope: 'read',
    reach: { projects: 'within', phones: 'kept' },
    params,
    responses: { 200: job },
    errors: ['job_not_found'],
  },
  listTasks: {
    method: 'GET',
    path: '/api/v2/jobs/:id/tasks',
    operationId: 'listJobTasks',
    tag: 'Jobs',
    summary: 'List the tasks of a job with their attempts and results, in the order of the inputs',
    scope: 'read',
    reach: { projects: 'within', phones: 'kept' },
    params,
    query: Type.Object({ ...idPageQuery, status: Type.Optional(JobStatus) }),
    responses: { 200: pageOf({ tasks: Type.Array(Task) }) },
    errors: ['job_not_found'],
  },
  results: {
    method: 'GET',
    path: '/api/v2/jobs/:id/results',
    operationId: 'exportJobResults',
    tag: 'Jobs',
    summary: 'Export the inputs and results of a job as a table',
    description:
      'The table has a column for each field of the inputs and of the results; if either has more than 200 fields, it becomes a single column with JSON.',
    scope: 'read',
    reach: { projects: 'within', phones: 'kept' },
    params,
    query: Type.Object({ format: Type.Optional(Type.Enum(['csv', 'jsonl'] as const)) }),
    responses: { 200: ['text/csv', 'application/jsonl'] },
    errors: ['job_not_found'],
  },
  cancel: {
    method: 'POST',
    path: '/api/v2/jobs/:id/cancel',
    operationId: 'cancelJob',
    tag: 'Jobs',
    summary: 'Cancel a job: waiting tasks never start, and running tasks are stopped',
    scope: 'launch',
    reach: { projects: 'within', phones: 'kept' },
    audit: 'cancel_job',
    params,
    responses: { 200: job },
    errors: ['job_not_found'],
  },
  resume: {
    method: 'POST',
    path: '/api/v2/jobs/:id/resume',
    operationId: 'resumeJob',
    tag: 'Jobs',
    summary: 'Resume a job: its failed and cancelled tasks wait again',
    description:
      'Completed tasks are not changed. All waiting tasks then run with your devices and rights, and with the limits and the budget of your token. If another user created the job, its key is released.',
    scope: 'launch',
    reach: { projects: 'within', phones: 'kept', budget: 'within' },
    audit: 'resume_job',
    params,
    responses: { 200: job },
    errors: [
      'job_not_found',
      'project_not_found',
      'devices_unavailable',
      'invalid_selector',
      'too_many_tasks',
      'too_many_selectors',
      'budget_spent',
    ],
  },
  delete: {
    method: 'DELETE',
    path: '/api/v2/jobs/:id',
    operationId: 'deleteJob',
    tag: 'Jobs',
    summary: 'Delete a job that has ended, with its tasks; its runs are kept',
    scope: 'launch',
    reach: { projects: 'within', phones: 'kept' },
    audit: 'delete_job',
    params,
    responses: { 200: SuccessMessage },
    errors: ['job_not_found', 'job_not_ended'],
  },
} as const satisfies Record<string, RouteContract>;
