import { Type, type Static } from 'typebox';

import { FilmPicture, FilmVideo } from './film.ts';
import { EpochMs, Id, Uuid } from '../../ids.ts';
import { success, type RouteContract } from '../contract.ts';

/** Maximum length of a step's target, in UTF-16 units. */
export const maxStepTargetLength = 200;
/** Maximum length of a failed step's message, and of each nearest text, in UTF-16 units. */
export const maxStepMessageLength = 300;
/** Maximum number of nearest texts on the screen of a failed wait. */
const maxNearest = 5;

/** Maximum number of steps in one reply of `runs/:id/trace`. */
export const stepPageSize = 10_000;

const place = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 });
const places = (count: number, description: string) =>
  Type.Array(place, {
    minItems: count,
    maxItems: count,
    description,
    examples: [[540, 1200, 900, 1350].slice(0, count)],
  });
const one = { minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
const number = Type.Integer(one);
const short = { maxLength: maxStepMessageLength };
const shortText = Type.String(short);

const screen = (description: string) => ({ ...Uuid, description });

/** Target of a call, as far as it is known at its begin. */
export const StepAim = Type.Object({
  target: Type.Optional(
    Type.String({
      maxLength: maxStepTargetLength,
      description: 'Target of the call: a text, a selector, a node or an app; for typed text only its length',
    }),
  ),
  point: Type.Optional(places(2, 'x and y of the touch, in pixels of the screen')),
  node: Type.Optional(
    places(4, 'Left, top, right and bottom of the node that was touched or found, in pixels of the screen'),
  ),
  swipe: Type.Optional(
    places(4, 'x and y of the start of the swipe, then of its end, in pixels of the screen'),
  ),
});
export type StepAim = Static<typeof StepAim>;

/** Begin of an `agent` call, as reported by the isolate. */
export const StepBegin = Type.Object({
  step: Type.Integer({
    ...one,
    description: 'Number of the step within the run, from 1, in the order in which the steps began',
  }),
  parent: Type.Optional(
    Type.Integer({ ...one, description: 'Number of the `runStages` step in which the call was made' }),
  ),
  name: Type.String({ pattern: '^[A-Za-z][A-Za-z.]{0,39}$' }),
  ...StepAim.properties,
});
export type StepBegin = Static<typeof StepBegin>;

/** End of a step. `outcome` is `ok` or the code of its error. */
export const StepEnd = Type.Object({
  step: number,
  outcome: Type.String({
    pattern: '^[a-z][a-z0-9_]{0,63}$',
    description: '`ok`, the code of the error, or `unfinished` when the run ended first',
  }),
  message: Type.Optional(Type.String({ ...short, description: 'Beginning of the error message' })),
  nearest: Type.Optional(
    Type.Array(shortText, {
      maxItems: maxNearest,
      description:
        'For a wait that failed: the texts on the last screen that were most similar to its target',
    }),
  ),
  node: StepAim.properties.node,
});
export type StepEnd = Static<typeof StepEnd>;

/** Outcome of a step that was still open at the end of the run. */
export const unfinishedOutcome = 'unfinished';

/** Step on the wire, in addition to its time and its place in the source. */
export const WireStep = Type.Object({
  ...StepBegin.properties,
  ...StepEnd.properties,
  duration_ms: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  readings: Type.Optional(
    Type.Integer({ ...one, description: 'Number of times that the screen was read during the step' }),
  ),
  before: Type.Optional(screen('Screen when the step began, as the ID of a screen in a record of the run')),
  after: Type.Optional(
    screen('Last screen that was read during the step, as the ID of a screen in a record of the run'),
  ),
  skipped: Type.Optional(
    Type.Integer({
      ...one,
      description: 'Number of steps before this one that were not recorded, because they came too fast',
    }),
  ),
});
export type WireStep = Static<typeof WireStep>;

/** One `agent` call of a run. */
export const RunStep = Type.Object(
  {
    id: Type.String({ description: 'UUIDv7; used as the `from` cursor' }),
    run_id: Uuid,
    ...WireStep.properties,
    path: Type.Union([Type.String(), Type.Null()], {
      description: 'Path of the source file of the call in the project; null if unknown',
    }),
    line_number: Type.Integer({
      minimum: 0,
      description: 'Line of the call in the source file; 0 if unknown',
    }),
    timestamp: Type.Integer({
      ...EpochMs,
      description: 'Time when the step began, in milliseconds since the Unix epoch',
    }),
  },
  { title: 'RunStep' },
);
export type RunStep = Static<typeof RunStep>;

/** Steps of runs. */
export const traceRoutes = {
  read: {
    method: 'GET',
    path: '/api/v2/runs/:id/trace',
    operationId: 'runTrace',
    tag: 'Runs',
    summary: 'Read the steps of a run',
    description:
      'Returns every call of `agent`, in the order in which the calls ended, as long as the run is kept, also while it runs. A step refers to its screens by ID: the screens of the last steps before a failure, and all screens that the automation stored, are in the records of the run. If a trace exceeds the limit of a log, its beginning and its end are kept.',
    scope: 'read',
    reach: { projects: 'within', phones: 'run' },
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
          description: 'Pass it as `from` to get the next page; null if there are no more now',
        }),
        truncated: Type.Boolean({ description: 'Whether steps in the middle of the trace were left out' }),
        film: Type.Array(FilmPicture, {
          description:
            'For a run that was launched with `film`: the pictures from the beginning of the first of these steps to the end of the last. At most 1,000 together with the videos; `GET /api/v2/runs/:id/film` returns all',
        }),
        film_videos: Type.Array(FilmVideo, {
          description:
            'For a run that was launched with `film`: the videos that show a part of the same time',
        }),
      }),
    },
    errors: ['run_not_found', 'too_many_waiting', 'too_busy'],
  },
} as const satisfies Record<string, RouteContract>;
