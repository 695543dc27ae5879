import { Type, type Static } from 'typebox';

/** Text of a `content` field that was moved from the body to a file. */
const StagedText = Type.Object({ sizeBytes: Type.Integer(), isWellFormed: Type.Boolean() });

/** Answer of the process that reads a large body, as JSON on its standard output. */
export const BodyAnswer = Type.Union([
  Type.Object({
    kind: Type.Literal('read'),
    /** Fields of the body. An empty text replaces each `content`. */
    fields: Type.Unknown(),
    /** Texts in the order of the body. */
    contents: Type.Array(StagedText),
  }),
  Type.Object({ kind: Type.Literal('malformed'), reason: Type.String() }),
]);
export type BodyAnswer = Static<typeof BodyAnswer>;
export type StagedText = Static<typeof StagedText>;
