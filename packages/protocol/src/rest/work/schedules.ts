import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../../ids.ts';
import { success, SuccessMessage, type RouteContract, nullable } from '../contract.ts';
import { Job, workFields } from './jobs.ts';
import { idPageQuery, pageOf } from '../page.ts';

const settings = {
  name: Type.String({ maxLength: 200 }),
  cron: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Cron expression: minute, hour, day of month, month, day of week',
    examples: ['0 2 * * *'],
  }),
  time_zone: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'IANA time zone name',
    examples: ['Europe/Berlin'],
  }),
  jitter_seconds: Type.Integer({
    minimum: 0,
    maximum: 3600,
    description: 'Maximum random delay of each turn, in seconds. Default 0',
  }),
  overlap: Type.Enum(['skip', 'queue', 'allow'] as const, {
    description:
      'What a turn does while the previous job has not ended. `skip`: it creates no job. `queue`: one job is created when the previous one ends; further turns are skipped. `allow`: a job is created at once. Default `skip`',
  }),
  missed: Type.Enum(['none', 'last'] as const, {
    description:
      'What happens to turns that were missed by more than ten minutes, because the service was down. `none`: all are skipped. `last`: the last one is made up for. Default `none`',
  }),
  paused: Type.Boolean(),
};

const optional = {
  name: Type.Optional(settings.name),
  jitter_seconds: Type.Optional(settings.jitter_seconds),
  overlap: Type.Optional(settings.overlap),
  missed: Type.Optional(settings.missed),
  paused: Type.Optional(settings.paused),
};

export const ScheduleBody = Type.Object({
  automation_id: Id,
  cron: settings.cron,
  time_zone: settings.time_zone,
  ...optional,
  ...workFields,
});
export type ScheduleBody = Static<typeof ScheduleBody>;

/** Fields of a change; each replaces the current value. */
const ScheduleChanges = Type.Object({
  cron: Type.Optional(settings.cron),
  time_zone: Type.Optional(settings.time_zone),
  ...optional,
  ...workFields,
});

export const Schedule = Type.Object(
  {
    id: Uuid,
    automation_id: Type.String(),
    user: Type.Object({ id: Type.String(), name: Type.String() }),
    ...settings,
    work: Type.Object(workFields),
    problem: Type.String({ description: 'Why the service paused the schedule; empty if it did not' }),
    next: Type.Array(EpochMs, {
      description: 'The next five times within 50 years; empty while the schedule is paused',
    }),
    created_at: EpochMs,
  },
  { title: 'Schedule' },
);
export type Schedule = Static<typeof Schedule>;

/** Due time of a schedule. */
export const ScheduleTurn = Type.Object(
  {
    id: Uuid,
    planned_at: EpochMs,
    at: EpochMs,
    job_id: nullable(
      Type.String({ description: 'ID of the job that was created; null if the turn was skipped' }),
    ),
    reason: Type.String({
      description: 'Why the turn was skipped, or which user ran it by hand; else empty',
    }),
  },
  { title: 'ScheduleTurn' },
);
export type ScheduleTurn = Static<typeof ScheduleTurn>;

const params = Type.Object({ id: Id });
const schedule = Type.Object({ success, schedule: Schedule });

/** Schedules, which create jobs repeatedly. */
export const scheduleRoutes = {
  create: {
    method: 'POST',
    path: '/api/v2/schedules',
    operationId: 'createSchedule',
    tag: 'Schedules',
    summary: 'Create a schedule, which creates a job at the times of a cron expression',
    description:
      'Each job has the rights that the creator of the schedule has at that turn. A schedule whose project or creator was deleted is paused.',
    scope: 'launch',
    reach: { projects: 'within', phones: 'work', budget: 'within' },
    audit: 'create_schedule',
    body: ScheduleBody,
    bodyExample: {
      automation_id: '01a1ff14-6b1c-7c33-9d1a-0f2a6a3c5e77',
      cron: '0 2 * * *',
      time_zone: 'Europe/Berlin',
      selector: 'country=de,model~Pixel',
      count: 5,
    },
    responses: { 201: schedule },
    errors: [
      'project_not_found',
      'devices_unavailable',
      'invalid_selector',
      'invalid_cron',
      'secret_in_job',
      'work_bytes_exceeded',
      'secrets_unavailable',
      'too_many_schedules',
    ],
  },
  list: {
    method: 'GET',
    path: '/api/v2/schedules',
    operationId: 'listSchedules',
    tag: 'Schedules',
    summary: 'List your schedules and those of projects of which you are a member, newest first',
    scope: 'read',
    reach: { projects: 'within', phones: 'kept' },
    query: Type.Object({ ...idPageQuery, automation_id: Type.Optional(Id) }),
    responses: { 200: pageOf({ schedules: Type.Array(Schedule) }) },
  },
  listTimes: {
    method: 'GET',
    path: '/api/v2/schedules/times',
    operationId: 'listCronTimes',
    tag: 'Schedules',
    summary: 'List the next five times of a cron expression, to check it before you create a schedule',
    scope: 'read',
    reach: { projects: 'open', phones: 'none' },
    query: Type.Object({ cron: settings.cron, time_zone: settings.time_zone }),
    responses: {
      200: Type.Object({
        success,
        times: Type.Array(EpochMs, {
          description: 'The next five times, or fewer if there are fewer within 50 years',
        }),
      }),
    },
    errors: ['invalid_cron'],
  },
  get: {
    method: 'GET',
    path: '/api/v2/schedules/:id',
    operationId: 'getSchedule',
    tag: 'Schedules',
    summary: 'Read one schedule',
    scope: 'read',
    reach: { projects: 'within', phones: 'kept' },
    params,
    responses: { 200: schedule },
    errors: ['schedule_not_found'],
  },
  change: {
    method: 'PATCH',
    path: '/api/v2/schedules/:id',
    operationId: 'changeSchedule',
    tag: 'Schedules',
    summary: 'Change or pause a schedule',
    description:
      'Turns that pass during a pause are not made up for. A user who changes anything but the name, or resumes the schedule, becomes its creator: its jobs then run with the devices and rights of that user, and with the limits and the budget of their token. Pausing or renaming does not change the creator.',
    scope: 'launch',
    reach: { projects: 'within', phones: 'work', budget: 'within' },
    audit: 'change_schedule',
    params,
    body: ScheduleChanges,
    bodyExample: { paused: true },
    responses: { 200: schedule },
    errors: [
      'schedule_not_found',
      'project_not_found',
      'devices_unavailable',
      'invalid_selector',
      'invalid_cron',
      'secret_in_job',
      'work_bytes_exceeded',
      'secrets_unavailable',
      'too_many_schedules',
      'budget_spent',
    ],
  },
  delete: {
    method: 'DELETE',
    path: '/api/v2/schedules/:id',
    operationId: 'deleteSchedule',
    tag: 'Schedules',
    summary: 'Delete a schedule; its jobs are kept',
    scope: 'launch',
    reach: { projects: 'within', phones: 'kept' },
    audit: 'delete_schedule',
    params,
    responses: { 200: SuccessMessage },
    errors: ['schedule_not_found'],
  },
  run: {
    method: 'POST',
    path: '/api/v2/schedules/:id/run',
    operationId: 'runSchedule',
    tag: 'Schedules',
    summary: 'Create a job of a schedule now',
    description:
      'The job runs with your devices and rights, and with the limits and the budget of your token. The times of the schedule, a pause and `overlap` are ignored: the job is created even if the previous one has not ended. For the next turn, it is the previous job.',
    scope: 'launch',
    reach: { projects: 'within', phones: 'work', budget: 'within' },
    audit: 'run_schedule',
    params,
    responses: { 201: Type.Object({ success, job: Job }) },
    errors: [
      'schedule_not_found',
      'project_not_found',
      'devices_unavailable',
      'invalid_selector',
      'invalid_parameters',
      'invalid_parameter_schema',
      'secret_in_job',
      'secrets_unavailable',
      'too_many_tasks',
      'too_many_selectors',
      'work_bytes_exceeded',
    ],
  },
  listTurns: {
    method: 'GET',
    path: '/api/v2/schedules/:id/turns',
    operationId: 'listScheduleTurns',
    tag: 'Schedules',
    summary:
      'List the turns of a schedule, newest first: the job of each turn, or why it was skipped, including jobs that were created by hand',
    scope: 'read',
    reach: { projects: 'within', phones: 'kept' },
    params,
    query: Type.Object(idPageQuery),
    responses: { 200: pageOf({ turns: Type.Array(ScheduleTurn) }) },
    errors: ['schedule_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
