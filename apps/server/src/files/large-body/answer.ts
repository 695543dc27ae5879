import { Type, type Static } from 'typebox';

/** What the process that reads a large body says of it, as JSON on its standard output. */
export const BodyAnswer = Type.Union([
  /** `fields` are the body's own, with an empty text in the place of `content`. */
  Type.Object({
    kind: Type.Literal('read'),
    fields: Type.Unknown(),
    sizeBytes: Type.Integer(),
    isWellFormed: Type.Boolean(),
  }),
  Type.Object({ kind: Type.Literal('malformed'), reason: Type.String() }),
]);
export type BodyAnswer = Static<typeof BodyAnswer>;
