import { Type, type Static } from 'typebox';

/** Symbol at a place in code. */
export const CodeSymbol = Type.Object(
  {
    name: Type.String(),
    type: Type.String(),
    documentation: Type.String(),
    signatures: Type.Array(
      Type.Object({
        parameters: Type.Array(Type.String(), { description: 'Parameters, such as `timeoutMs?: number`' }),
        returns: Type.String(),
      }),
      { description: 'Call signatures' },
    ),
  },
  { title: 'CodeSymbol' },
);
export type CodeSymbol = Static<typeof CodeSymbol>;

/** Possible completion at a place in code. */
export const CodeCompletion = Type.Object(
  {
    name: Type.String(),
    kind: Type.Enum([
      ...(['method', 'function', 'property', 'variable', 'constant', 'class', 'interface'] as const),
      ...(['enum', 'keyword', 'text'] as const),
    ]),
    type: Type.String({
      description: 'Type of the name; empty if there is none, and after the first 100 completions',
    }),
    documentation: Type.String(),
  },
  { title: 'CodeCompletion' },
);
export type CodeCompletion = Static<typeof CodeCompletion>;

/** Occurrence of a name in a file of a project. */
export const CodePlace = Type.Object(
  {
    path: Type.String(),
    start: Type.Integer({
      minimum: 0,
      description: 'Offset from the beginning of the file, in UTF-16 code units',
    }),
    end: Type.Integer({ minimum: 0 }),
  },
  { title: 'CodePlace' },
);
export type CodePlace = Static<typeof CodePlace>;

/** References to one symbol in the project. */
export const CodeReferences = Type.Object(
  {
    definition: Type.Union([CodePlace, Type.Null()], {
      description:
        'Place of the definition; null for names that are not defined in the project, such as the members of `agent`',
    }),
    references: Type.Array(CodePlace, {
      description: 'All places where the name is used, including the definition; at most 1,000',
    }),
  },
  { title: 'CodeReferences' },
);
export type CodeReferences = Static<typeof CodeReferences>;
