import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { WebDriverError } from './web-driver-error.ts';

/** Keys of an element in JSON: W3C's and the older one. */
export const elementKey = 'element-6066-11e4-a52e-4f735466cecf';
export const oldElementKey = 'ELEMENT';

const PointBody = Type.Object({ x: Type.Number(), y: Type.Number() });
const ActionItem = Type.Object({
  type: Type.String(),
  duration: Type.Optional(Type.Number({ minimum: 0, maximum: 60_000 })),
  origin: Type.Optional(Type.String()),
  x: Type.Optional(Type.Number()),
  y: Type.Optional(Type.Number()),
  value: Type.Optional(Type.String()),
});

/** Body of each command. Unknown fields are ignored, like by the real server. */
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
  press: Compile(
    Type.Object({
      offset: PointBody,
      duration: Type.Optional(Type.Number({ minimum: 0, maximum: 60_000 })),
    }),
  ),
  keyCode: Compile(Type.Object({ keycode: Type.Integer(), metastate: Type.Optional(Type.Integer()) })),
  newSession: Compile(Type.Object({ capabilities: Type.Record(Type.String(), Type.Unknown()) })),
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

interface Checker<Value> {
  Check(value: unknown): value is Value;
  Errors(value: unknown): { instancePath: string; message: string }[];
}

/** Validates a body. Throws "invalid argument". */
export function parseBody<Value>(checker: Checker<Value>, body: unknown): Value {
  if (checker.Check(body)) return body;
  const first = checker.Errors(body)[0];
  throw new WebDriverError(
    'invalid argument',
    `The body is not valid at '${first?.instancePath ?? ''}': ${first?.message ?? ''}`,
  );
}
