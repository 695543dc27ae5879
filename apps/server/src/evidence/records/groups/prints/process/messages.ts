import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';

import type { ScreenPrint } from '../screen-print.ts';

const maxName = 1000;
/** Features or words of a print with their weights, at most 256 of each. */
const weights = Type.Array(Type.Tuple([Type.String({ maxLength: maxName }), Type.Number()]), {
  maxItems: 256,
});

/** Print in its stored form. */
const PrintJson = Type.Object({
  packageName: Type.String({ maxLength: 255 }),
  key: Type.String({ minLength: 24, maxLength: 24 }),
  features: weights,
  words: weights,
  ids: Type.Array(Type.String({ maxLength: maxName }), { maxItems: 256 }),
  isDialog: Type.Boolean(),
});
export type PrintJson = Static<typeof PrintJson>;

/** Message to the process: the bytes of a stored tree. */
export interface ToProcess {
  readonly tree: Uint8Array;
}

const FromProcess = Type.Union([
  /** First message, sent when the process is ready. */
  Type.Object({ kind: Type.Literal('ready') }),
  Type.Object({ kind: Type.Literal('print'), print: PrintJson }),
  Type.Object({ kind: Type.Literal('unreadable'), problem: Type.String() }),
]);
export type FromProcess = Static<typeof FromProcess>;

const fromProcess = Compile(FromProcess);
export const isFromProcess = (message: unknown): message is FromProcess => fromProcess.Check(message);

export const jsonOf = ({ features, words, ids, ...rest }: ScreenPrint): PrintJson => ({
  ...rest,
  features: [...features],
  words: [...words],
  ids: [...ids],
});

export const printFrom = ({ features, words, ids, ...rest }: PrintJson): ScreenPrint => ({
  ...rest,
  features: new Map(features),
  words: new Map(words),
  ids: new Set(ids),
});
