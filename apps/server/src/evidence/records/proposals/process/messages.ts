import type { SignCondition } from '@phalanx/automation/screen-signs';
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';

import { SignConditionJson } from '../../../../code/compile/process/messages.ts';

const PossibleSignJson = Type.Object({
  condition: SignConditionJson,
  cost: Type.Number(),
  isCommon: Type.Boolean(),
});

/** Message to the process, with the bytes of stored trees. */
export type ToProcess =
  | { readonly kind: 'list'; readonly trees: readonly Uint8Array[]; readonly maxCount: number }
  | {
      readonly kind: 'test';
      readonly trees: readonly Uint8Array[];
      readonly conditions: readonly SentCondition[];
    };

type SentCondition = Static<typeof SignConditionJson>;

/** Converts a condition to the form in which it is sent. */
export const asSent = (condition: SignCondition): SentCondition =>
  condition.by === 'text' ? { by: 'text', texts: [...condition.texts] } : condition;

const print = Type.String({ minLength: 24, maxLength: 24 });

const FromProcess = Type.Union([
  /** First message, sent when the process is ready. */
  Type.Object({ kind: Type.Literal('ready') }),
  /** Conditions that hold on all readable trees. */
  Type.Object({
    kind: Type.Literal('listed'),
    signs: Type.Array(PossibleSignJson),
    button: Type.Union([SignConditionJson, Type.Null()]),
    /** Print of each tree; null when the tree cannot be read. */
    prints: Type.Array(Type.Union([print, Type.Null()])),
  }),
  Type.Object({
    kind: Type.Literal('tested'),
    /** Print of each tree with the positions of the conditions that hold on it; null when the tree cannot be read. */
    screens: Type.Array(
      Type.Union([Type.Object({ print, held: Type.Array(Type.Integer({ minimum: 0 })) }), Type.Null()]),
    ),
  }),
]);
export type FromProcess = Static<typeof FromProcess>;

const fromProcess = Compile(FromProcess);
export const isFromProcess = (message: unknown): message is FromProcess => fromProcess.Check(message);
