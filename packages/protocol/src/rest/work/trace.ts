import { Type, type Static } from 'typebox';

import { FilmPicture, FilmVideo } from './film.ts';
import { EpochMs, Id, Uuid } from '../../ids.ts';
import { success, type RouteContract } from '../contract.ts';

/** Maximum length of the text for a step's target, in UTF-16 units. */
export const maxStepTargetLength = 200;
/** Maximum length of a failed step's message, and of each text that was near, in UTF-16 units. */
export const maxStepMessageLength = 300;
/** The nearest texts on the screen of a wait that failed. */
const maxNearest = 5;

/** One reply of `runs/:id/trace` holds at most so many steps. */
export const stepPageSize = 10_000;

const place = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 });
const places = (count: number, description: string) =>
  Type.Array(place, {
    ...{ minItems: count, maxItems: count, description },
    examples: [[540, 1200, 900, 1350].slice(0, count)],
  });
const one = { minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
const number = Type.Integer(one);
const short = { maxLength: maxStepMessageLength };
const shortText = Type.String(short);

const screen = (description: string) => ({ ...Uuid, description });

/** Target of a call, as far as it is known when it begins. */
export const StepAim = Type.Object({
  target: Type.Optional(
    Type.String({
      maxLength: maxStepTargetLength,
      description:
        'What the call acted on: a text, a selector, a node, an app. Of typed text only its length',
    }),
  ),
  point: Type.Optional(places(2, 'x and y of a touch, in pixels of the screen')),
  node: Type.Optional(places(4, 'Left, top, right and bottom of the node that was touched or found')),
  swipe: Type.Optional(places(4, 'x and y of its beginning, then of its end')),
});
export type StepAim = Static<typeof StepAim>;

/** A call of `agent` that begins, as the isolate says it. */
export const StepBegin = Type.Object({
  step: Type.Integer({
    ...one,
    description: 'Counted from 1 within the run, in the order in which they began',
  }),
  parent: Type.Optional(
    Type.Integer({ ...one, description: 'The step of `runStages` in which the call was made' }),
  ),
  name: Type.String({ pattern: '^[A-Za-z][A-Za-z.]{0,39}$' }),
  ...StepAim.properties,
});
export type StepBegin = Static<typeof StepBegin>;

/** How it ended. `outcome`: `ok`, or the code of its error. */
export const StepEnd = Type.Object({
  step: number,
  outcome: Type.String({
    pattern: '^[a-z][a-z0-9_]{0,63}$',
    description: '`ok`, the code of the error, or `unfinished` when the run ended first',
  }),
  message: Type.Optional(Type.String({ ...short, description: 'How the error begins' })),
  nearest: Type.Optional(
    Type.Array(shortText, {
      maxItems: maxNearest,
      description: 'Of a wait that failed, what was nearest on the last screen',
    }),
  ),
  node: StepAim.properties.node,
});
export type StepEnd = Static<typeof StepEnd>;

/** A step that the run's end has cut off: it never came back. */
export const unfinishedOutcome = 'unfinished';

/** A step on the wire, beside its time and its place in the source. */
export const WireStep = Type.Object({
  ...StepBegin.properties,
  ...StepEnd.properties,
  duration_ms: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  readings: Type.Optional(Type.Integer({ ...one, description: 'How often the screen was read meanwhile' })),
  before: Type.Optional(
    screen('The screen when it began, as the `screen_id` of a screen in a record of the run'),
  ),
  after: Type.Optional(screen('The last screen that was read meanwhile, likewise')),
  skipped: Type.Optional(
    Type.Integer({ ...one, description: 'So many steps before this one came too fast to be recorded' }),
  ),
});
export type WireStep = Static<typeof WireStep>;

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
