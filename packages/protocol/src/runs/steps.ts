import { Type, type Static } from 'typebox';

import { Uuid } from '../ids.ts';

/** Of what a step acted on, in UTF-16 units. */
export const maxStepTargetLength = 200;
/** Of a failed step's message, and of each text that was near. */
export const maxStepMessageLength = 300;
/** The nearest texts on the screen of a wait that failed. */
const maxNearest = 5;

/** Steps of a run that take longer than these rates allow are not recorded; the next recorded one tells how many. */
export const stepRate = { perSecond: 200, burst: 5000 };

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

/** What a call acts on, as far as it is known when it begins. */
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
