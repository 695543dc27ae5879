import { Type, type Static } from 'typebox';

import { EpochMs, Id, TimeInput, Uuid } from '../ids.ts';
import { RunError, RunStatus } from '../runs.ts';
import { success, type RouteContract } from './contract.ts';
import { pageOf, idPageQuery } from './page.ts';

const nullable = <T extends ReturnType<typeof Type.String> | typeof EpochMs>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const Run = Type.Object({
  run_id: Uuid,
  automation_id: Type.String({ description: 'Project ID, or the launch ID of direct code' }),
  launch_id: nullable(Type.String({ description: "The caller's launch ID; null for a saved project" })),
  device_id: Type.String(),
  status: RunStatus,
  error: Type.Union([RunError, Type.Null()]),
  commit: nullable(Type.String({ description: 'Commit of the project that ran' })),
  dirty: Type.Union([Type.Boolean(), Type.Null()], { description: 'Whether there were uncommitted changes' }),
  created_at: EpochMs,
  started_at: nullable(EpochMs),
  ended_at: nullable(EpochMs),
});
export type Run = Static<typeof Run>;

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
    summary: 'Read one run',
    scope: 'read',
    params: Type.Object({ id: Id }),
    responses: { 200: Type.Object({ success, run: Run }) },
    errors: [404],
  },
} as const satisfies Record<string, RouteContract>;
