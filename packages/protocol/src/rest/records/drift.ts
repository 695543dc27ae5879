import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../../ids.ts';
import { success, type RouteContract } from '../contract.ts';
import { GroupStatus } from './record-groups.ts';

const count = Type.Integer({ minimum: 0 });
const textOrNull = Type.Union([Type.String(), Type.Null()]);

/** Why the code is said to know a version worse than the one before. */
export const DriftReason = Type.Object(
  {
    by: Type.Enum(['failing', 'reopened'] as const, {
      description:
        '`failing`: the share of bad runs is at least twice that of the version before, and that is no chance (p < 0.01). `reopened`: a solved group has opened again, which had no record of this version before',
    }),
    group_id: Type.Optional(Uuid),
    runs: count,
    bad_runs: count,
    version_before: textOrNull,
    runs_before: count,
    bad_runs_before: count,
  },
  { title: 'DriftReason' },
);
export type DriftReason = Static<typeof DriftReason>;

/** The known screen that an unknown one is most like. */
export const NearestState = Type.Object(
  {
    kind: Type.Enum(['golden', 'group'] as const, {
      description: 'A golden screen of the saved code, or a screen of a group',
    }),
    name: Type.String({ description: 'The path of the golden screen, or the ID of the group' }),
    state: Type.String(),
    likeness: Type.Number({ description: 'From 0 to 1' }),
    difference: Type.String({ description: 'In words, such as `#pay_button is gone; #pay_now is new`' }),
  },
  { title: 'NearestState' },
);
export type NearestState = Static<typeof NearestState>;

export const DriftGroup = Type.Object(
  {
    id: Uuid,
    title: Type.String(),
    next_stage: Type.String(),
    screen_state: Type.String(),
    status: GroupStatus,
    records: count,
    phones: count,
    nearest: Type.Union([NearestState, Type.Null()], { description: 'null: none is like it' }),
  },
  { title: 'DriftGroup' },
);
export type DriftGroup = Static<typeof DriftGroup>;

export const AppVersionFigures = Type.Object(
  {
    package: Type.String(),
    version: Type.String(),
    runs: Type.Integer({
      description: 'That have ended by themselves, and that have read screens of this app the most',
    }),
    bad_runs: Type.Integer({
      description: 'Of these: out of steps, timed out, or ended by an error that the code did not catch',
    }),
    records: count,
    groups: Type.Integer({ description: 'Groups that began with a record of this version' }),
    first_seen: EpochMs,
    last_seen: EpochMs,
    drift_at: Type.Union([EpochMs, Type.Null()], { description: 'When `drift.found` was told' }),
    drift: Type.Union([DriftReason, Type.Null()]),
    new_groups: Type.Array(DriftGroup, { description: 'Of the groups, the newest ones that are open' }),
  },
  { title: 'AppVersionFigures' },
);
export type AppVersionFigures = Static<typeof AppVersionFigures>;

export const driftRoutes = {
  get: {
    method: 'GET',
    path: '/api/v2/automation/drift/:id',
    operationId: 'getDrift',
    tag: 'Records',
    summary: 'Read what became of the runs of a project with each version of its apps',
    description:
      'The version that was seen first last comes first. Owners and shared editors of the project see it. Up to 100 versions; those that were not seen for 180 days are forgotten.',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params: Type.Object({ id: Id }),
    responses: { 200: Type.Object({ success, versions: Type.Array(AppVersionFigures) }) },
    errors: ['project_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
