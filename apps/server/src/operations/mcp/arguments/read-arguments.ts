import { IsObject, type Static, type TSchema } from 'typebox';

import { validatorOf } from '../../../http/requests/validation.ts';
import { findProblem } from './find-problem.ts';
import { GivenValues } from './given-values.ts';
import { isFields } from './variants.ts';

/** Field of wrapped arguments. Some clients wrap them, and `readMessages` wraps arguments that are no object. */
export const wrapper = 'arguments';

type Read<Args> = { readonly args: Args; readonly problem?: undefined } | { readonly problem: string };

/** Returns the arguments of a tool in the form of its schema, or a problem in one sentence for the caller. */
export function readArguments<Input extends TSchema>(schema: Input, given: unknown): Read<Static<Input>> {
  const values = new GivenValues();
  const args = values.read(schema, unwrapped(schema, given));
  if (values.excess !== undefined) return { problem: `The JSON text in the arguments ${values.excess}.` };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this is the check
  if (validatorOf(schema)().Check(args)) return { args: args as Static<Input> };
  return { problem: findProblem(schema, args) ?? 'The arguments do not have the form that the tool lists.' };
}

function unwrapped(schema: TSchema, given: unknown): unknown {
  const [name, ...others] = isFields(given) ? Object.keys(given) : [];
  const isOwn = IsObject(schema) && Object.hasOwn(schema.properties, wrapper);
  const inner = isFields(given) && name === wrapper && others.length === 0 && !isOwn ? given[wrapper] : given;
  return isNone(inner) ? {} : inner;
}

/** Whether arguments are omitted. Some languages encode an empty object as an empty array. */
const isNone = (given: unknown): boolean =>
  given === undefined ||
  given === null ||
  (typeof given === 'string' && given.trim() === '') ||
  (Array.isArray(given) && given.length === 0);
