import type { AnyContract } from '@phalanx/protocol';

import type { AnswerOf, InputOf } from './contract-types.ts';
import { endpoints } from './endpoints.ts';
import type { CallOptions, Inputs, Transport } from './transport.ts';

type Callable = Exclude<AnyContract, { responses: { 101: unknown } }>;

type Operation<Contract extends Callable> =
  object extends InputOf<Contract>
    ? (input?: InputOf<Contract>, options?: CallOptions) => Promise<AnswerOf<Contract>>
    : (input: InputOf<Contract>, options?: CallOptions) => Promise<AnswerOf<Contract>>;

/** A method for each operation of the API, with its name in the OpenAPI document. */
export type Operations = {
  readonly [Contract in Callable as Contract['operationId']]: Operation<Contract>;
};

export function operationsOf(transport: Transport): Operations {
  const methods = Object.entries(endpoints).map(([name, { isJson, ...endpoint }]) => [
    name,
    (inputs?: Inputs, options?: CallOptions) =>
      isJson ? transport.json(endpoint, inputs, options) : transport.send(endpoint, inputs, options),
  ]);
  // Both come from the same table of contracts.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(methods) as Operations;
}
