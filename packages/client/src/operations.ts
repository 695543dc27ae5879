import type { AnyContract, ReplyOf, RouteContract } from '@phalanx/protocol';
import type { Static, TSchema } from 'typebox';

import { endpoints } from './endpoints.ts';
import type { CallOptions, Inputs, Transport } from './transport.ts';

type Part<Contract, Key extends string> =
  Contract extends Record<Key, infer Schema extends TSchema> ? Static<Schema> : never;

type PartOf<Contract, Key extends string> = [Part<Contract, Key>] extends [never]
  ? { [Name in Key]?: never }
  : object extends Part<Contract, Key>
    ? { [Name in Key]?: Part<Contract, Key> }
    : { [Name in Key]: Part<Contract, Key> };

/** A body that is not JSON of ours. */
type RawBody = Uint8Array<ArrayBuffer> | Blob | string;

type BodyOf<Contract> = Contract extends { bodyTypes: readonly string[] }
  ? { body: RawBody }
  : PartOf<Contract, 'body'>;

/** Input of a call of an endpoint. */
export type InputOf<Contract extends RouteContract> = PartOf<Contract, 'params'> &
  PartOf<Contract, 'query'> &
  PartOf<Contract, 'headers'> &
  BodyOf<Contract>;

/** Result of a call of an endpoint: its JSON, or the whole response when it has another body. */
export type AnswerOf<Contract extends RouteContract> = [ReplyOf<Contract>] extends [never]
  ? Response
  : ReplyOf<Contract>;

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
