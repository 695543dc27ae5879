import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { WebDriverError } from './web-driver-error.ts';

/** The two names under which an element travels: W3C's and the older one. */
export const elementKey = 'element-6066-11e4-a52e-4f735466cecf';
export const oldElementKey = 'ELEMENT';

const Element = Type.Object({
  [elementKey]: Type.Optional(Type.String()),
  [oldElementKey]: Type.Optional(Type.String()),
  element: Type.Optional(Type.String()),
});
const PointBody = Type.Object({ x: Type.Number(), y: Type.Number() });
const Area = Type.Object({
  left: Type.Number(),
  top: Type.Number(),
  width: Type.Number(),
  height: Type.Number(),
});
const Direction = Type.String({ pattern: '^(?:up|down|left|right|UP|DOWN|LEFT|RIGHT)$' });
const Find = Type.Object({
  strategy: Type.String(),
  selector: Type.String(),
  context: Type.Optional(Type.String()),
});

const DirectedGesture = Type.Object({
  origin: Type.Optional(Element),
  area: Type.Optional(Area),
  direction: Direction,
  percent: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
  speed: Type.Optional(Type.Number()),
});

const ActionItem = Type.Object({
  type: Type.String(),
  duration: Type.Optional(Type.Number({ minimum: 0, maximum: 60_000 })),
  origin: Type.Optional(Type.Union([Type.String(), Element])),
  x: Type.Optional(Type.Number()),
  y: Type.Optional(Type.Number()),
  value: Type.Optional(Type.String()),
});

/** Body of each command. Fields that are not named are ignored, as by the real server. */
export const bodies = {
  actions: Compile(
    Type.Object({
      actions: Type.Array(
        Type.Object({
          type: Type.String(),
          id: Type.String(),
          actions: Type.Array(ActionItem),
        }),
        { minItems: 1 },
      ),
    }),
  ),
  clipboard: Compile(Type.Object({ content: Type.String() })),
  orientation: Compile(Type.Object({ orientation: Type.Enum(['PORTRAIT', 'LANDSCAPE']) })),
  rotation: Compile(Type.Object({ x: Type.Literal(0), y: Type.Literal(0), z: Type.Enum([0, 90, 180, 270]) })),
  alert: Compile(Type.Object({ buttonLabel: Type.Optional(Type.Union([Type.String(), Type.Null()])) })),
  click: Compile(
    Type.Object({
      origin: Type.Optional(Element),
      locator: Type.Optional(Find),
      offset: Type.Optional(PointBody),
      duration: Type.Optional(Type.Number({ minimum: 0, maximum: 60_000 })),
    }),
  ),
  drag: Compile(
    Type.Object({
      origin: Type.Optional(Element),
      start: Type.Optional(PointBody),
      end: PointBody,
      speed: Type.Optional(Type.Number()),
    }),
  ),
  directed: Compile(DirectedGesture),
  find: Compile(Find),
  fling: Compile(
    Type.Object({ origin: Type.Optional(Element), area: Type.Optional(Area), direction: Direction }),
  ),
  keyCode: Compile(Type.Object({ keycode: Type.Integer(), metastate: Type.Optional(Type.Integer()) })),
  newSession: Compile(Type.Object({ capabilities: Type.Record(Type.String(), Type.Unknown()) })),
  pinch: Compile(
    Type.Object({
      origin: Type.Optional(Element),
      area: Type.Optional(Area),
      percent: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
      speed: Type.Optional(Type.Number()),
    }),
  ),
  scrollTo: Compile(
    Type.Object({
      origin: Type.Optional(Element),
      params: Type.Object({
        strategy: Type.String(),
        selector: Type.String(),
        maxSwipes: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      }),
    }),
  ),
  sendKeys: Compile(
    Type.Object({ text: Type.String({ maxLength: 100_000 }), replace: Type.Optional(Type.Boolean()) }),
  ),
  settings: Compile(Type.Object({ settings: Type.Record(Type.String(), Type.Unknown()) })),
} as const;

export type ActionSource = {
  readonly id: string;
  readonly type: string;
  readonly actions: readonly Static<typeof ActionItem>[];
};
export type ElementBody = Static<typeof Element>;
export type AreaBody = Static<typeof Area>;

interface Checker<Value> {
  Check(value: unknown): value is Value;
  Errors(value: unknown): { instancePath: string; message: string }[];
}

/** The body as its type. Throws "invalid argument". */
export function parseBody<Value>(checker: Checker<Value>, body: unknown): Value {
  if (checker.Check(body)) return body;
  const first = checker.Errors(body)[0];
  throw new WebDriverError(
    'invalid argument',
    `The body is not valid at '${first?.instancePath ?? ''}': ${first?.message ?? ''}`,
  );
}

export function findElementId(body: ElementBody | undefined): string | undefined {
  return body?.[elementKey] ?? body?.[oldElementKey] ?? body?.element;
}
