import { Type, type Static } from 'typebox';

/** A `content` that was taken out of a body. */
const StagedText = Type.Object({ sizeBytes: Type.Integer(), isWellFormed: Type.Boolean() });

/** What the process that reads a large body says of it, as JSON on its standard output. */
export const BodyAnswer = Type.Union([
  Type.Object({
    kind: Type.Literal('read'),
    /** The body's own, with an empty text in the place of each `content`. */
    fields: Type.Unknown(),
    /** In the order of the body. */
    contents: Type.Array(StagedText),
  }),
  Type.Object({ kind: Type.Literal('malformed'), reason: Type.String() }),
]);
export type BodyAnswer = Static<typeof BodyAnswer>;
export type StagedText = Static<typeof StagedText>;
