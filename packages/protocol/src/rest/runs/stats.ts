import { Type, type Static } from 'typebox';
import { EpochMs, Id } from '../../ids.ts';
import { Selector } from '../../phones/device-selector.ts';
import { RunOutcome } from '../../runs/runs.ts';
import { success, type RouteContract, nullable } from '../contract.ts';

export const statsGroupings = ['automation', 'device', 'pool', 'day', 'reason'] as const;
export const StatsGrouping = Type.Enum(statsGroupings, {
  description:
    'Field by which runs are grouped into rows. `device`: includes devices without runs · `pool`: your pools, with the devices that each selects now · `reason`: why runs did not succeed. Default `automation`',
});
export type StatsGrouping = Static<typeof StatsGrouping>;

export const maxStatsDays = 366;

const share = (description: string) => nullable(Type.Number({ minimum: 0, maximum: 1, description }));

export const Stat = Type.Object(
  {
    key: Type.String({
      description:
        'ID of the project or device, name of the pool, day (`2026-11-25`, UTC), or code of the reason; `direct` for direct code',
    }),
    name: Type.String({ description: 'Display name of the row' }),
    runs: Type.Integer({ description: 'Number of runs that have ended' }),
    outcomes: Type.Array(Type.Object({ outcome: RunOutcome, runs: Type.Integer() }), {
      description: 'Number of runs by outcome, most frequent first',
    }),
    reasons: Type.Array(Type.Object({ reason: Type.String(), runs: Type.Integer() }), {
      description:
        'Number of runs without success by reason, most frequent first: the code of the error, or the outcome',
    }),
    success_share: share(
      'Share of successful runs among those that were not stopped, from 0 to 1; null if there were none',
    ),
    average_run_ms: nullable(
      Type.Integer({
        description: 'Average duration of the runs that started, in milliseconds; null if there were none',
      }),
    ),
    average_wait_ms: nullable(
      Type.Integer({
        description:
          'Average time from the launch (for a task of a job, from when it could have started) to the first line of code, in milliseconds; null if there was none',
      }),
    ),
    busy_share: share(
      'Share of the time of these devices that was spent in runs, from 0 to 1; null without a device',
    ),
  },
  { title: 'Stat' },
);
export type Stat = Static<typeof Stat>;

const query = Type.Object({
  by: Type.Optional(StatsGrouping),
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxStatsDays,
      default: 30,
      description: 'Number of days, including today',
    }),
  ),
  automation_id: Type.Optional(Id),
  selector: Type.Optional(Selector),
});

/** Statistics of the ends of runs. */
export const statsRoutes = {
  read: {
    method: 'GET',
    path: '/api/v2/stats',
    operationId: 'readStats',
    tag: 'Stats',
    summary: 'Read statistics of runs: their number, outcomes, durations and waiting times',
    description:
      'Counts all runs that you may see and that have ended, even if their history has been deleted since. Grouped by automation unless `by` says otherwise. Days begin at midnight UTC; statistics are kept for 400 days.',
    scope: 'read',
    reach: { projects: 'within', phones: 'selector' },
    query,
    responses: {
      200: Type.Object({
        success,
        from: EpochMs,
        until: EpochMs,
        by: StatsGrouping,
        total: Stat,
        stats: Type.Array(Stat),
      }),
    },
    errors: ['invalid_selector'],
  },
  export: {
    method: 'GET',
    path: '/api/v2/stats/export',
    operationId: 'exportStats',
    tag: 'Stats',
    summary: 'Export statistics of runs as CSV',
    scope: 'read',
    reach: { projects: 'within', phones: 'selector' },
    query,
    responses: { 200: ['text/csv'], 304: [] },
    errors: ['invalid_selector'],
  },
} as const satisfies Record<string, RouteContract>;
