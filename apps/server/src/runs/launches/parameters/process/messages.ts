import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';

/** Requests of the server. The hash identifies a schema, so that a cached one is neither sent nor compiled again. */
export type ToProcess =
  | { readonly kind: 'compile'; readonly hash: string; readonly schema: string }
  | { readonly kind: 'check'; readonly hash: string; readonly parameters: Record<string, unknown> };

const FromProcess = Type.Union([
  /** First message of the process. */
  Type.Object({ kind: Type.Literal('ready') }),
  Type.Object({ kind: Type.Literal('compiled'), problem: Type.Union([Type.String(), Type.Null()]) }),
  /** No schema with this hash is cached. */
  Type.Object({ kind: Type.Literal('unknown') }),
  /** Valid parameters, with the defaults of the schema. */
  Type.Object({ kind: Type.Literal('fits'), parameters: Type.Record(Type.String(), Type.Unknown()) }),
  Type.Object({ kind: Type.Literal('refused'), reasons: Type.Array(Type.String()) }),
  Type.Object({ kind: Type.Literal('schema_problem'), problem: Type.String() }),
]);
export type FromProcess = Static<typeof FromProcess>;

const fromProcess = Compile(FromProcess);
export const isFromProcess = (message: unknown): message is FromProcess => fromProcess.Check(message);
