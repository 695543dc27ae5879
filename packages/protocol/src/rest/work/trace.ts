import { Type, type Static } from 'typebox';

import { FilmPicture, FilmVideo } from '../../runs/film.ts';
import { EpochMs, Id, Uuid } from '../../ids.ts';
import { stepPageSize, WireStep } from '../../runs/steps.ts';
import { success, type RouteContract } from '../contract.ts';

/** One call of `agent` in a run. */
export const RunStep = Type.Object(
  {
    id: Type.String({ description: 'UUIDv7; the `from` cursor' }),
    run_id: Uuid,
    ...WireStep.properties,
    path: Type.Union([Type.String(), Type.Null()], {
      description: 'Source file of the call, as in the project; null when there is none',
    }),
    line_number: Type.Integer({ minimum: 0, description: 'Its line; 0 when there is none' }),
    timestamp: Type.Integer({ ...EpochMs, description: 'When it began' }),
  },
  { title: 'RunStep' },
);
export type RunStep = Static<typeof RunStep>;

/** The steps of runs. */
export const traceRoutes = {
  read: {
    method: 'GET',
    path: '/api/v2/runs/:id/trace',
    operationId: 'runTrace',
    tag: 'Runs',
    summary: 'Read the steps of a run',
    description:
      'Every call of `agent`, in the order in which they ended, for as long as the run is kept, also while it still runs. A step names its screens by their `screen_id`: the screens of the last steps before a failure, and all that the automation stored, are in the records of the run. Of a trace beyond the limit of a log the beginning and the end are kept.',
    scope: 'read',
    params: Type.Object({ id: Id }),
    query: Type.Object({
      from: Type.Optional(Uuid),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: stepPageSize, default: 1000 })),
    }),
    responses: {
      200: Type.Object({
        success,
        steps: Type.Array(RunStep),
        next_cursor: Type.Union([Type.String(), Type.Null()], {
          description: 'Pass it as `from` to read on; null when there is no more now',
        }),
        truncated: Type.Boolean({ description: 'Whether steps in the middle were left out' }),
        film: Type.Array(FilmPicture, {
          description:
            'Of a run that was launched with `film`: the pictures from the beginning of the first of these steps to the end of the last. With the videos at most 1,000; `GET /api/v2/runs/:id/film` has all',
        }),
        film_videos: Type.Array(FilmVideo, { description: 'The same: videos of a part of this time' }),
      }),
    },
    errors: ['run_not_found', 'too_many_waiting', 'too_busy'],
  },
} as const satisfies Record<string, RouteContract>;
