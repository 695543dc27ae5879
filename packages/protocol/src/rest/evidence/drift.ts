import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../../ids.ts';
import { success, type RouteContract } from '../contract.ts';
import { GroupStatus } from './record-groups.ts';

const count = Type.Integer({ minimum: 0 });
const textOrNull = Type.Union([Type.String(), Type.Null()]);

/** Reason why the code counts as recognizing a version worse than the previous one. */
export const DriftReason = Type.Object(
  {
    by: Type.Enum(['failing', 'reopened'] as const, {
      description:
        '`failing`: the share of bad runs is at least twice that of the previous version, with statistical significance (p < 0.01). `reopened`: a solved group, which had no record of this version before, was reopened',
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

/** Known screen that is most similar to an unknown one. */
export const NearestState = Type.Object(
  {
    kind: Type.Enum(['golden', 'group'] as const, {
      description: '`golden`: a golden screen among the saved files. `group`: a screen of a group',
    }),
    name: Type.String({ description: 'Path of the golden screen, or ID of the group' }),
    state: Type.String(),
    likeness: Type.Number({ description: 'Similarity of the screens, from 0 to 1' }),
    difference: Type.String({
      description: 'Description of the difference, such as `#pay_button is gone; #pay_now is new`',
    }),
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
    nearest: Type.Union([NearestState, Type.Null()], {
      description: 'The most similar known screen; null: none is similar',
    }),
  },
  { title: 'DriftGroup' },
);
export type DriftGroup = Static<typeof DriftGroup>;

export const AppVersionFigures = Type.Object(
  {
    package: Type.String(),
    version: Type.String(),
    runs: Type.Integer({
      description:
        'Number of runs that ended without being stopped and that read screens of this app more than of any other',
    }),
    bad_runs: Type.Integer({
      description:
        'Number of these runs that were out of steps, timed out, or failed with an error that the code did not catch',
    }),
    records: count,
    groups: Type.Integer({ description: 'Number of groups whose first record is of this version' }),
    first_seen: EpochMs,
    last_seen: EpochMs,
    drift_at: Type.Union([EpochMs, Type.Null()], {
      description: 'When `drift.found` was sent; null: it was not',
    }),
    drift: Type.Union([DriftReason, Type.Null()]),
    new_groups: Type.Array(DriftGroup, {
      description: 'The newest open groups whose first record is of this version',
    }),
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
    summary: 'Read statistics of the runs of a project for each version of its apps',
    description:
      'Ordered by when the version was first seen, newest first; at most 100 versions. Visible to the owner and the shared editors of the project. A version that was not seen for 180 days is deleted.',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params: Type.Object({ id: Id }),
    responses: { 200: Type.Object({ success, versions: Type.Array(AppVersionFigures) }) },
    errors: ['project_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
