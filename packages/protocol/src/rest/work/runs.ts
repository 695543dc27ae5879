import { Type, type Static } from 'typebox';
import { EpochMs, Id, TimeInput, Uuid } from '../../ids.ts';
import { searchText } from '../search-text.ts';
import { PhoneSettings } from '../../phones/phone-settings.ts';
import { LogEntry, logPageSize } from './logs.ts';
import { RecordType } from '../../runs/records.ts';
import { ContentType, maxRunFileBytes, maxRunFiles, RunFile, RunFileName } from '../../runs/run-files.ts';
import { RunError, RunOutcome, RunStatus } from '../../runs/runs.ts';
import { JsonObject, success, type RouteContract, nullable } from '../contract.ts';
import { RecordScreen } from '../records/records.ts';
import { pageOf, idPageQuery } from '../page.ts';

/** A run as events have it. */
export const Run = Type.Object({
  run_id: Uuid,
  automation_id: Type.String({ description: 'Project ID, or the launch ID of direct code' }),
  launch_id: nullable(Type.String({ description: "The caller's launch ID; null for a saved project" })),
  name: nullable(
    Type.String({ description: 'Of the project when it was launched, or what the launch called its code' }),
  ),
  launch: Type.String({ description: 'The same for all runs that one request started' }),
  device_id: Type.String(),
  status: RunStatus,
  outcome: Type.Union([RunOutcome, Type.Null()], {
    description:
      'What a run that has ended came to. One that is `completed` may have ended `out_of_steps` (or `timed_out` on its way), when its last such record was not followed by success',
  }),
  error: Type.Union([RunError, Type.Null()]),
  commit: nullable(Type.String({ description: 'Commit of the project that ran' })),
  dirty: Type.Union([Type.Boolean(), Type.Null()], {
    description: 'Whether there were uncommitted changes',
  }),
  created_at: EpochMs,
  started_at: nullable(EpochMs),
  ended_at: nullable(EpochMs),
});
export type Run = Static<typeof Run>;

/** User who launched a run, and the token, job or schedule that was used. */
export const RunLauncher = Type.Object({
  user_id: Type.String(),
  user_name: nullable(Type.String()),
  token_name: nullable(Type.String()),
  job: Type.Union(
    [
      Type.Object({
        job_id: Uuid,
        task_number: Type.Integer({
          description: 'Place of its first task among the inputs of the job, from 1',
        }),
        schedule_id: nullable(Uuid),
        schedule_name: nullable(Type.String({ description: 'Null when the schedule was deleted' })),
      }),
      Type.Null(),
    ],
    { description: 'The job of its first task, and the schedule that made the job; null without a job' },
  ),
});
export type RunLauncher = Static<typeof RunLauncher>;

/** A run as lists have it. */
export const ListedRun = Type.Object({ ...Run.properties, launched_by: RunLauncher }, { title: 'Run' });
export type ListedRun = Static<typeof ListedRun>;

/** The most runs that `total` counts. */
export const maxCountedRuns = 1000;

/** A run with all that explains it. */
export const RunDetail = Type.Object(
  {
    ...ListedRun.properties,
    project_name: nullable(Type.String({ description: 'When it was launched; null for direct code' })),
    tree: nullable(
      Type.String({
        description:
          "Git's hash of the saved files that ran, committed or not; `GET /api/v2/automation/file/:id` reads one of them with it for as long as the run is kept and the newest 1,000 such hashes of its project have it. Null for direct code",
      }),
    ),
    parameters: Type.Union(
      [
        Type.Object({
          automation_parameters: JsonObject,
          job_variables: JsonObject,
          phone_settings: Type.Optional(PhoneSettings),
        }),
        Type.Null(),
      ],
      {
        description:
          'What the launch gave to the code. Everybody who may see the run can read it: keep secrets out of it. Null when it was larger than 1 MiB',
      },
    ),
    result: Type.Unknown({ description: 'What the code gave to `agent.control.setResult`; null without it' }),
    log_complete: Type.Boolean({
      description:
        'Whether the run has ended and all of its log is stored, so that nothing comes any more. False also for a run that is lost, whose host may still bring it',
    }),
    records: Type.Array(Type.Object({ record_id: Uuid, type: RecordType }), {
      description: 'Out-of-steps records of the run, newest first, at most 100',
    }),
    last_screen: Type.Union([Type.Object({ record_id: Uuid, screen: RecordScreen }), Type.Null()], {
      description: 'The last screen of its newest record',
    }),
  },
  { title: 'RunDetail' },
);
export type RunDetail = Static<typeof RunDetail>;

/** Media types that files of runs are served as. */
const servedFileTypes = ['application/octet-stream', 'image/png', 'image/jpeg'] as const;

/** Executions on devices. */
export const runRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/runs',
    operationId: 'listRuns',
    tag: 'Runs',
    summary: 'List runs, newest first',
    description:
      'A search looks through 10,000 runs a page. A page may be empty and have a `next_cursor`, when so many were searched and too few found.',
    scope: 'read',
    reach: { projects: 'within', phones: 'query' },
    query: Type.Object({
      ...idPageQuery,
      device_id: Type.Optional(Id),
      automation_id: Type.Optional(Id),
      launch_id: Type.Optional(Uuid),
      launch: Type.Optional(Uuid),
      status: Type.Optional(RunStatus),
      search: Type.Optional(
        searchText(
          'Text in the name, the ID, or the code or the first 1,000 letters of the message of the error, in either letter case',
          { minLength: 1 },
        ),
      ),
      created_after: Type.Optional(TimeInput),
      created_before: Type.Optional(TimeInput),
      total: Type.Optional(
        Type.Enum(['true', 'false'], { description: 'Whether the reply says how many runs match' }),
      ),
    }),
    responses: {
      200: pageOf({
        runs: Type.Array(ListedRun),
        total: Type.Union(
          [
            Type.Object({
              runs: Type.Integer({ maximum: maxCountedRuns }),
              or_more: Type.Boolean({ description: 'Whether there may be more: no more are counted' }),
            }),
            Type.Null(),
          ],
          {
            description:
              'How many runs match, from the cursor on, at most 1,000; of a search among the runs that it looked through. Null unless the query asks for it',
          },
        ),
      }),
    },
  },
  get: {
    method: 'GET',
    path: '/api/v2/runs/:id',
    operationId: 'getRun',
    tag: 'Runs',
    summary: 'Read one run, with what explains it',
    scope: 'read',
    reach: { projects: 'within', phones: 'run' },
    params: Type.Object({ id: Id }),
    responses: { 200: Type.Object({ success, run: RunDetail }) },
    errors: ['run_not_found'],
  },
  code: {
    method: 'GET',
    path: '/api/v2/runs/:id/code',
    operationId: 'runCode',
    tag: 'Runs',
    summary: 'Read the direct code that a run has executed',
    description:
      'As the launch sent it, for as long as the run is kept; stacks and steps call it `main.ts`. Only its launcher may read it. The files of a project that ran are read by the `tree` of the run.',
    scope: 'read',
    reach: { projects: 'within', phones: 'run' },
    params: Type.Object({ id: Id }),
    responses: {
      200: Type.Object({
        success,
        code: nullable(
          Type.String({
            description: 'Null for a saved project, and for code of more than 1 MiB, which is not kept',
          }),
        ),
      }),
    },
    errors: ['run_not_found'],
  },
  logs: {
    method: 'GET',
    path: '/api/v2/runs/:id/logs',
    operationId: 'runLogs',
    tag: 'Runs',
    summary: 'Read the whole log of a run',
    description:
      'Oldest first, for as long as the run is kept, also while it still runs. Of a log beyond the limit the beginning and the end are kept, with an entry where some were left out. A page may be empty and have a `next_cursor`, when much was searched and nothing found; to follow a run, go on with the last entry’s `id`.',
    scope: 'read',
    reach: { projects: 'within', phones: 'run' },
    params: Type.Object({ id: Id }),
    query: Type.Object({
      from: Type.Optional(Uuid),
      levels: Type.Optional(
        Type.String({
          pattern: '^(log|warn|error)(,(log|warn|error))*$',
          description: 'Comma-separated; all without it',
        }),
      ),
      search: Type.Optional(searchText('Text in the message, in either letter case')),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: logPageSize, default: logPageSize })),
      last: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: logPageSize,
          description: 'Only so many entries, from the end, whatever the other parameters say',
        }),
      ),
    }),
    responses: {
      200: Type.Object({
        success,
        logs: Type.Array(LogEntry),
        next_cursor: Type.Union([Type.String(), Type.Null()], {
          description: 'Pass it as `from` to read on; null when there is no more now',
        }),
        truncated: Type.Boolean({ description: 'Whether entries in the middle were left out' }),
      }),
    },
    errors: ['run_not_found', 'too_many_waiting', 'too_busy'],
  },
  files: {
    method: 'GET',
    path: '/api/v2/runs/:id/files',
    operationId: 'runFiles',
    tag: 'Runs',
    summary: 'List the files that a run has attached, by name',
    description:
      'What the code gave to `agent.run.attach`, also while the run goes on. A file appears here when its host has uploaded it. Whoever may read the log of the run may read its files; they are kept as long as the run.',
    scope: 'read',
    reach: { projects: 'within', phones: 'run' },
    params: Type.Object({ id: Id }),
    responses: { 200: Type.Object({ success, files: Type.Array(RunFile, { maxItems: maxRunFiles }) }) },
    errors: ['run_not_found'],
  },
  readFile: {
    method: 'GET',
    path: '/api/v2/runs/:id/files/:name',
    operationId: 'readRunFile',
    tag: 'Runs',
    summary: 'Download a file that a run has attached',
    description:
      'Takes a `Range`. The content type is that of a PNG or JPEG picture, and else `application/octet-stream`, so that no browser shows what an automation wrote; the list has the type that the code gave.',
    scope: 'read',
    reach: { projects: 'within', phones: 'run' },
    params: Type.Object({ id: Id, name: RunFileName }),
    responses: { 200: servedFileTypes, 206: servedFileTypes },
    errors: ['run_not_found', 'run_file_not_found', 'range_not_satisfiable', 'bucket_unavailable'],
  },
  putFile: {
    method: 'PUT',
    path: '/api/v2/hosts/runs/:run_id/files/:file_id',
    operationId: 'putRunFile',
    tag: 'Hosts',
    summary: 'Upload a file that a run of the host has attached',
    description: 'The same file ID again is a success, and its body is not read.',
    scope: 'host',
    reach: { projects: 'refused', phones: 'refused' },
    audit: null,
    params: Type.Object({ run_id: Uuid, file_id: Uuid }),
    query: Type.Object({ name: RunFileName, content_type: ContentType }),
    bodyTypes: ['application/octet-stream'],
    bodyLimitBytes: maxRunFileBytes,
    responses: { 200: Type.Object({ success }) },
    errors: [
      'run_not_found',
      'run_file_exists',
      'too_many_run_files',
      'wrong_capture_type',
      'storage_full',
      'capture_bytes_exceeded',
    ],
  },
} as const satisfies Record<string, RouteContract>;
