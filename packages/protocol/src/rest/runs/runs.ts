import { Type, type Static } from 'typebox';
import { EpochMs, Id, TimeInput, Uuid } from '../../ids.ts';
import { searchText } from '../search-text.ts';
import { PhoneSettings } from '../../phones/phone-settings.ts';
import { LogEntry, logPageSize } from './logs.ts';
import { RecordType } from '../../runs/records.ts';
import { ContentType, maxRunFileBytes, maxRunFiles, RunFile, RunFileName } from '../../runs/run-files.ts';
import { RunError, RunOutcome, RunStatus } from '../../runs/runs.ts';
import { JsonObject, success, type RouteContract, nullable } from '../contract.ts';
import { RecordScreen } from '../evidence/records.ts';
import { pageOf, idPageQuery } from '../page.ts';

/** Run as sent in events. */
export const Run = Type.Object({
  run_id: Uuid,
  automation_id: Type.String({ description: 'Project ID, or the launch ID of direct code' }),
  launch_id: nullable(
    Type.String({
      description: 'The launch ID of direct code, chosen by the caller; null for a saved project',
    }),
  ),
  name: nullable(
    Type.String({
      description:
        'Name of the project at the launch, or the name that the launch gave its direct code; null without one',
    }),
  ),
  launch: Type.String({ description: 'ID of the launch, shared by all runs that one request started' }),
  device_id: Type.String(),
  status: RunStatus,
  outcome: Type.Union([RunOutcome, Type.Null()], {
    description:
      'Outcome of a run that has ended; else null. A run with the status `completed` has the outcome `out_of_steps` or `timed_out` if its last record of that type was not followed by success',
  }),
  error: Type.Union([RunError, Type.Null()]),
  commit: nullable(Type.String({ description: 'Commit of the project at the launch; null without one' })),
  dirty: Type.Union([Type.Boolean(), Type.Null()], {
    description: 'Whether the run included uncommitted changes; null for direct code',
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
          description: 'Number of its first task among the inputs of the job, from 1',
        }),
        schedule_id: nullable(Uuid),
        schedule_name: nullable(Type.String({ description: 'Name of the schedule; null if it was deleted' })),
      }),
      Type.Null(),
    ],
    { description: 'The job of its first task, and the schedule that created the job; null without a job' },
  ),
});
export type RunLauncher = Static<typeof RunLauncher>;

/** Run as returned in lists. */
export const ListedRun = Type.Object({ ...Run.properties, launched_by: RunLauncher }, { title: 'Run' });
export type ListedRun = Static<typeof ListedRun>;

/** Maximum number of runs that `total` counts. */
export const maxCountedRuns = 1000;

/** Run with all its details. */
export const RunDetail = Type.Object(
  {
    ...ListedRun.properties,
    project_name: nullable(
      Type.String({ description: 'Name of the project at the launch; null for direct code' }),
    ),
    tree: nullable(
      Type.String({
        description:
          'Git tree hash of the saved files that ran, committed or not. Pass it to `GET /api/v2/automation/file/:id` to read one of these files, as long as the run is kept and the hash is among the newest 1,000 of its project. Null for direct code',
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
          'Parameters of the launch. Everyone who may see the run can read them, so do not put secrets into them. Null if they were larger than 1 MiB',
      },
    ),
    result: Type.Unknown({
      description: 'Result that the code set with `agent.control.setResult`; null without one',
    }),
    log_complete: Type.Boolean({
      description:
        'Whether the log is final: the run has ended and all of its log is stored. Also false for a lost run, whose host may still send log entries',
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

/** Media types with which files of runs are served. */
const servedFileTypes = ['application/octet-stream', 'image/png', 'image/jpeg'] as const;

/** Runs: executions on devices. */
export const runRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/runs',
    operationId: 'listRuns',
    tag: 'Runs',
    summary: 'List runs, newest first',
    description:
      'Each page of a search examines up to 10,000 runs, so a page may be empty and still have a `next_cursor`.',
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
          'Part of the name, of the ID, or of the code or the first 1,000 characters of the message of the error, case-insensitive',
          { minLength: 1 },
        ),
      ),
      created_after: Type.Optional(TimeInput),
      created_before: Type.Optional(TimeInput),
      total: Type.Optional(
        Type.Enum(['true', 'false'], {
          description: 'Whether the reply includes the number of runs that match. Default `false`',
        }),
      ),
    }),
    responses: {
      200: pageOf({
        runs: Type.Array(ListedRun),
        total: Type.Union(
          [
            Type.Object({
              runs: Type.Integer({ maximum: maxCountedRuns }),
              or_more: Type.Boolean({
                description: 'Whether there may be more, because counting stopped at the limit',
              }),
            }),
            Type.Null(),
          ],
          {
            description:
              'Number of runs that match, counted from the cursor on, at most 1,000; for a search, among the runs that it examined. Null unless requested by `total`',
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
    summary: 'Read one run, with its parameters, result, launcher and records',
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
    summary: 'Read the direct code that a run executed',
    description:
      'Returns the code as it was sent in the launch, as long as the run is kept; stack traces and steps call it `main.ts`. Only the user who launched it may read it. For a project, read its files with the `tree` of the run.',
    scope: 'read',
    reach: { projects: 'within', phones: 'run' },
    params: Type.Object({ id: Id }),
    responses: {
      200: Type.Object({
        success,
        code: nullable(
          Type.String({
            description:
              'The code; null for a saved project, and for code of more than 1 MiB, which is not kept',
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
      'Returns entries oldest first, as long as the run is kept, also while it runs. If a log exceeds its limit, its beginning and its end are kept, with an entry in place of those left out. With `search`, a page may be empty and still have a `next_cursor`. To follow a run, pass the `id` of the last entry as `from`.',
    scope: 'read',
    reach: { projects: 'within', phones: 'run' },
    params: Type.Object({ id: Id }),
    query: Type.Object({
      from: Type.Optional(Uuid),
      levels: Type.Optional(
        Type.String({
          pattern: '^(log|warn|error)(,(log|warn|error))*$',
          description: 'Levels, separated by commas. Default: all levels',
        }),
      ),
      search: Type.Optional(searchText('Part of the message, case-insensitive')),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: logPageSize, default: logPageSize })),
      last: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: logPageSize,
          description:
            'Returns only this number of entries, from the end of the log, and ignores the other parameters',
        }),
      ),
    }),
    responses: {
      200: Type.Object({
        success,
        logs: Type.Array(LogEntry),
        next_cursor: Type.Union([Type.String(), Type.Null()], {
          description: 'Pass it as `from` to get the next page; null if there are no more now',
        }),
        truncated: Type.Boolean({ description: 'Whether entries in the middle of the log were left out' }),
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
      'Lists the files that the code attached with `agent.run.attach`, also while the run is running. A file is listed once its host has uploaded it. Visible to everyone who may read the log of the run; kept as long as the run.',
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
      'Supports `Range`. PNG and JPEG pictures are served with their own content type, and every other file as `application/octet-stream`, so that browsers do not render what an automation wrote; the list has the type that the code gave.',
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
    description: 'Repeating an upload with the same file ID is a success, and its body is not read.',
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
