import { Type, type Static } from 'typebox';

import { EpochMs, Id, TimeInput, Uuid } from '../ids.ts';
import { LogEntry, logPageSize } from '../logs.ts';
import { RecordType } from '../records.ts';
import { RunError, RunOutcome, RunStatus } from '../runs.ts';
import { JsonObject, success, type RouteContract } from './contract.ts';
import { RecordScreen } from './records.ts';
import { pageOf, idPageQuery } from './page.ts';

const nullable = <T extends ReturnType<typeof Type.String> | typeof EpochMs>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const Run = Type.Object(
  {
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
  },
  { title: 'Run' },
);
export type Run = Static<typeof Run>;

/** A run with all that explains it. */
export const RunDetail = Type.Object(
  {
    ...Run.properties,
    project_name: nullable(Type.String({ description: 'When it was launched; null for direct code' })),
    tree: nullable(Type.String({ description: "Git's hash of the saved files that ran" })),
    parameters: Type.Union(
      [Type.Object({ automation_parameters: JsonObject, job_variables: JsonObject }), Type.Null()],
      {
        description:
          'What the launch gave to the code. Everybody who may see the run can read it: keep secrets out of it. Null when it was larger than 1 MiB',
      },
    ),
    launched_by: Type.Object({
      user_id: Type.String(),
      user_name: nullable(Type.String()),
      token_name: nullable(Type.String()),
    }),
    result: Type.Unknown({ description: 'What the code gave to `agent.control.setResult`; null without it' }),
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

/** Executions on devices. */
export const runRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/runs',
    operationId: 'listRuns',
    tag: 'Runs',
    summary: 'List runs, newest first',
    scope: 'read',
    query: Type.Object({
      ...idPageQuery,
      device_id: Type.Optional(Id),
      automation_id: Type.Optional(Id),
      launch_id: Type.Optional(Uuid),
      launch: Type.Optional(Uuid),
      status: Type.Optional(RunStatus),
      created_after: Type.Optional(TimeInput),
      created_before: Type.Optional(TimeInput),
    }),
    responses: { 200: pageOf({ runs: Type.Array(Run) }) },
  },
  get: {
    method: 'GET',
    path: '/api/v2/runs/:id',
    operationId: 'getRun',
    tag: 'Runs',
    summary: 'Read one run, with what explains it',
    scope: 'read',
    params: Type.Object({ id: Id }),
    responses: { 200: Type.Object({ success, run: RunDetail }) },
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
    params: Type.Object({ id: Id }),
    query: Type.Object({
      from: Type.Optional(Uuid),
      levels: Type.Optional(
        Type.String({
          pattern: '^(log|warn|error)(,(log|warn|error))*$',
          description: 'Comma-separated; all without it',
        }),
      ),
      search: Type.Optional(
        Type.String({ maxLength: 1000, description: 'Text in the message, in either letter case' }),
      ),
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
} as const satisfies Record<string, RouteContract>;
