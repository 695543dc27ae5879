import { Type, type Static } from 'typebox';

/** What stands at a place in code. */
export const CodeSymbol = Type.Object(
  {
    name: Type.String(),
    type: Type.String(),
    documentation: Type.String(),
    signatures: Type.Array(
      Type.Object({
        parameters: Type.Array(Type.String(), { description: 'Such as `timeoutMs?: number`' }),
        returns: Type.String(),
      }),
      { description: 'How it can be called' },
    ),
  },
  { title: 'CodeSymbol' },
);
export type CodeSymbol = Static<typeof CodeSymbol>;

/** What could stand at a place in code. */
export const CodeCompletion = Type.Object(
  {
    name: Type.String(),
    kind: Type.Enum([
      ...(['method', 'function', 'property', 'variable', 'constant', 'class', 'interface'] as const),
      ...(['enum', 'keyword', 'text'] as const),
    ]),
    type: Type.String({ description: 'Empty when there is none, and after the first 100' }),
    documentation: Type.String(),
  },
  { title: 'CodeCompletion' },
);
export type CodeCompletion = Static<typeof CodeCompletion>;
