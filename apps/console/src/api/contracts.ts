import type { AnswerOf, InputOf } from '@phalanx/client/contract-types';
import type { AnyContract, RouteContract } from '@phalanx/protocol';

/** Such as `GET /api/v2/devices/:id`. Types alone: the schemas themselves stay at the server, which judges. */
export type EndpointName = AnyContract extends infer One extends RouteContract
  ? One extends RouteContract
    ? `${One['method']} ${One['path']}`
    : never
  : never;

type ContractOf<Name extends EndpointName> = Name extends `${infer Method} ${infer Path}`
  ? Extract<AnyContract, { method: Method; path: Path }>
  : never;

/** What a call of an endpoint needs. */
export type Input<Name extends EndpointName> = InputOf<ContractOf<Name>>;

export type Reply<Name extends EndpointName> = AnswerOf<ContractOf<Name>>;
