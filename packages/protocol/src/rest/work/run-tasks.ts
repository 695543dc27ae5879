import { Type, type Static } from 'typebox';

import { Id, Uuid } from '../../ids.ts';
import { JsonObject, success, type RouteContract } from '../contract.ts';
import { JobStatus } from './jobs.ts';
import { maxRunResultBytes } from '../../runs/run-limits.ts';

/** Maximum number of tasks that a run may add or read in one call. */
export const maxTasksAtOnce = 1000;

/** JSON text of an object. */
const ObjectText = Type.String({ minLength: 2, maxLength: maxRunResultBytes, examples: ['{"order":7}'] });

export const submittedStatuses = ['running', 'success', 'failed', 'declined'] as const;
export const SubmittedStatus = Type.Enum(submittedStatuses);
export type SubmittedStatus = Static<typeof SubmittedStatus>;

/** Requests of a run to its job. They are idempotent, so each may be retried after a broken connection. */
export const RunTaskCall = Type.Union([
  Type.Object({ call: Type.Literal('current') }),
  /** Takes the next task. `after` is the current task of the run. */
  Type.Object({ call: Type.Literal('next'), after: Uuid }),
  Type.Object({
    call: Type.Literal('submit'),
    task_id: Uuid,
    status: SubmittedStatus,
    is_final: Type.Boolean(),
    data: ObjectText,
  }),
  Type.Object({
    call: Type.Literal('add'),
    job_id: Type.Optional(Id),
    tasks: Type.Array(Type.Object({ id: Uuid, input: ObjectText }), {
      minItems: 1,
      maxItems: maxTasksAtOnce,
    }),
  }),
  Type.Object({ call: Type.Literal('list'), ids: Type.Array(Uuid, { maxItems: maxTasksAtOnce }) }),
  /** Adds a task together with its result. */
  Type.Object({
    call: Type.Literal('submit_elsewhere'),
    job_id: Id,
    id: Uuid,
    is_success: Type.Boolean(),
    data: ObjectText,
  }),
]);
export type RunTaskCall = Static<typeof RunTaskCall>;

/** Task as its run gets it. */
export const RunTask = Type.Object(
  {
    id: Uuid,
    job_id: Uuid,
    parent_id: Type.Union([Type.String(), Type.Null()]),
    number: Type.Integer(),
    status: JobStatus,
    input: Type.Union([JsonObject, Type.Null()]),
    result: Type.Unknown(),
    comment: Type.Union([Type.String(), Type.Null()]),
  },
  { title: 'RunTask' },
);
export type RunTask = Static<typeof RunTask>;

/** Endpoint for the code of a run: `agent.utils.job`. */
export const runTaskRoutes = {
  call: {
    method: 'POST',
    path: '/api/v2/hosts/runs/:run_id/tasks',
    operationId: 'callRunTasks',
    tag: 'Hosts',
    summary: 'Do what the code of a run asks of its job',
    description:
      'The reply has no tasks if the run belongs to no job, or if there is no further task for it.',
    scope: 'host',
    reach: { projects: 'refused', phones: 'refused' },
    audit: null,
    params: Type.Object({ run_id: Uuid }),
    body: RunTaskCall,
    bodyExample: { call: 'current' },
    responses: { 200: Type.Object({ success, tasks: Type.Array(RunTask) }) },
    errors: [
      'run_not_found',
      'job_not_found',
      'job_cancelled',
      'job_full',
      'task_ended',
      'too_many_tasks',
      'too_many_selectors',
      'work_bytes_exceeded',
    ],
  },
} as const satisfies Record<string, RouteContract>;
