import type { AnyContract } from '@phalanx/protocol';

import type { ApiClient } from './api-client.ts';
import type { CallOptions, Inputs } from './call.ts';
import type { AnswerOf, InputOf } from './contract-types.ts';
import { endpoints } from './endpoints.ts';

type Callable = Exclude<AnyContract, { responses: { 101: unknown } }>;

type Operation<Contract extends Callable> =
  object extends InputOf<Contract>
    ? (input?: InputOf<Contract>, options?: CallOptions) => Promise<AnswerOf<Contract>>
    : (input: InputOf<Contract>, options?: CallOptions) => Promise<AnswerOf<Contract>>;

/** Methods for all operations of the API, named as in the OpenAPI document. */
export type Operations = {
  readonly [Contract in Callable as Contract['operationId']]: Operation<Contract>;
};

export function operationsOf(api: ApiClient): Operations {
  const methods = Object.entries(endpoints).map(([name, endpoint]) => [
    name,
    (inputs?: Inputs, options?: CallOptions) => api.answer(endpoint, inputs, options),
  ]);
  // Both come from the same table of contracts.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(methods) as Operations;
}
