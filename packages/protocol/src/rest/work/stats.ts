import { Type, type Static } from 'typebox';
import { EpochMs, Id } from '../../ids.ts';
import { Selector } from '../../phones/device-selector.ts';
import { RunOutcome } from '../../runs/runs.ts';
import { success, type RouteContract, nullable } from '../contract.ts';

export const statsGroupings = ['automation', 'device', 'pool', 'day', 'reason'] as const;
export const StatsGrouping = Type.Enum(statsGroupings, {
  description:
    'What a row is of. `device`: also phones without a run · `pool`: your pools, with the phones that each selects now · `reason`: why runs did not succeed',
});
export type StatsGrouping = Static<typeof StatsGrouping>;

export const maxStatsDays = 366;

const share = (description: string) => nullable(Type.Number({ minimum: 0, maximum: 1, description }));

export const Stat = Type.Object(
  {
    key: Type.String({
      description:
        'ID of the project or the phone, name of the pool, day (`2026-11-25`, UTC), or code of the reason. Of direct code it is `direct`',
    }),
    name: Type.String({ description: 'For people' }),
    runs: Type.Integer({ description: 'Runs that have ended' }),
    outcomes: Type.Array(Type.Object({ outcome: RunOutcome, runs: Type.Integer() }), {
      description: 'How they ended, the most frequent first',
    }),
    reasons: Type.Array(Type.Object({ reason: Type.String(), runs: Type.Integer() }), {
      description:
        'Why they did not succeed, the most frequent first: the code of their error, or their outcome',
    }),
    success_share: share('Of the runs that nobody stopped; null when there were none'),
    average_run_ms: nullable(Type.Integer({ description: 'Of runs that had begun' })),
    average_wait_ms: nullable(
      Type.Integer({
        description: 'From the launch, or from when the task of a job could have begun, to the first line',
      }),
    ),
    busy_share: share('How much of the time of these phones was spent in runs; null without a phone'),
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
      description: 'So many days, with today',
    }),
  ),
  automation_id: Type.Optional(Id),
  selector: Type.Optional(Selector),
});

/** How runs ended. */
export const statsRoutes = {
  read: {
    method: 'GET',
    path: '/api/v2/stats',
    operationId: 'readStats',
    tag: 'Stats',
    summary: 'Read how many runs there were, how they ended, how long they took and waited',
    description:
      'By automation unless `by` says otherwise; of all runs that you may see, also of those whose history was deleted since. A run counts when it has ended. Days begin at midnight UTC and are kept for 400 days.',
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
    summary: 'Export the same as CSV',
    scope: 'read',
    reach: { projects: 'within', phones: 'selector' },
    query,
    responses: { 200: ['text/csv'], 304: [] },
    errors: ['invalid_selector'],
  },
} as const satisfies Record<string, RouteContract>;
