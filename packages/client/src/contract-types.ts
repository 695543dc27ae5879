import type { ReplyOf, RouteContract } from '@phalanx/protocol';
import type { Static, TSchema } from 'typebox';

type Part<Contract, Key extends string> =
  Contract extends Record<Key, infer Schema extends TSchema> ? Static<Schema> : never;

type PartOf<Contract, Key extends string> = [Part<Contract, Key>] extends [never]
  ? { [Name in Key]?: never }
  : object extends Part<Contract, Key>
    ? { [Name in Key]?: Part<Contract, Key> }
    : { [Name in Key]: Part<Contract, Key> };

/** A body that is not JSON of ours. */
export type RawBody = Uint8Array<ArrayBuffer> | Blob | string;

type BodyOf<Contract> = Contract extends { bodyTypes: readonly string[] }
  ? { body: RawBody }
  : PartOf<Contract, 'body'>;

/** What a call of an endpoint takes. */
export type InputOf<Contract extends RouteContract> = PartOf<Contract, 'params'> &
  PartOf<Contract, 'query'> &
  PartOf<Contract, 'headers'> &
  BodyOf<Contract>;

/** What a call of an endpoint gives: its JSON, or the whole response when it has another body. */
export type AnswerOf<Contract extends RouteContract> = [ReplyOf<Contract>] extends [never]
  ? Response
  : ReplyOf<Contract>;
