import type { ReplyOf, RouteContract } from '@phalanx/protocol';
import type { Static, TSchema } from 'typebox';

import type { CallOptions } from './call.ts';

type Part<Contract, Key extends string> =
  Contract extends Record<Key, infer Schema extends TSchema> ? Static<Schema> : never;

type PartOf<Contract, Key extends string> = [Part<Contract, Key>] extends [never]
  ? { [Name in Key]?: never }
  : object extends Part<Contract, Key>
    ? { [Name in Key]?: Part<Contract, Key> }
    : { [Name in Key]: Part<Contract, Key> };

/** Body in a format other than JSON. */
type RawBody = Uint8Array<ArrayBuffer> | Blob | string;

type BodyOf<Contract> = Contract extends { bodyTypes: readonly string[] }
  ? { body: RawBody }
  : PartOf<Contract, 'body'>;

/** Input of a call to an endpoint. */
export type InputOf<Contract extends RouteContract> = PartOf<Contract, 'params'> &
  PartOf<Contract, 'query'> &
  PartOf<Contract, 'headers'> &
  BodyOf<Contract>;

/** Result of a call to an endpoint: its JSON, or the whole response when it has another body. */
export type AnswerOf<Contract extends RouteContract> = [ReplyOf<Contract>] extends [never]
  ? Response
  : ReplyOf<Contract>;

/** Arguments of a call to an endpoint. The input is optional when it has no required fields. */
export type CallArguments<Contract extends RouteContract> =
  object extends InputOf<Contract>
    ? [input?: InputOf<Contract>, options?: CallOptions]
    : [input: InputOf<Contract>, options?: CallOptions];
