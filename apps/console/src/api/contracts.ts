import type {
  accessRoutes,
  auditRoutes,
  commitRoutes,
  deviceControlRoutes,
  deviceMemberRoutes,
  deviceRoutes,
  fileRoutes,
  filmRoutes,
  groupRoutes,
  helpRoutes,
  hostRoutes,
  jobRoutes,
  labelRoutes,
  launchRoutes,
  logRoutes,
  poolRoutes,
  projectRoutes,
  recordRoutes,
  ReplyOf,
  RouteContract,
  runRoutes,
  scheduleRoutes,
  secretRoutes,
  sessionRoutes,
  statsRoutes,
  traceRoutes,
  usageRoutes,
  webhookRoutes,
} from '@phalanx/protocol';
import type { Static, TSchema } from 'typebox';

type RoutesOf<Group> = Group[keyof Group];

/** The endpoints of the protocol, as types alone: the schemas themselves stay at the server, which judges. */
type Contract =
  | RoutesOf<typeof accessRoutes>
  | RoutesOf<typeof auditRoutes>
  | RoutesOf<typeof commitRoutes>
  | RoutesOf<typeof deviceControlRoutes>
  | RoutesOf<typeof deviceMemberRoutes>
  | RoutesOf<typeof deviceRoutes>
  | RoutesOf<typeof fileRoutes>
  | RoutesOf<typeof filmRoutes>
  | RoutesOf<typeof groupRoutes>
  | RoutesOf<typeof helpRoutes>
  | RoutesOf<typeof hostRoutes>
  | RoutesOf<typeof jobRoutes>
  | RoutesOf<typeof labelRoutes>
  | RoutesOf<typeof launchRoutes>
  | RoutesOf<typeof logRoutes>
  | RoutesOf<typeof poolRoutes>
  | RoutesOf<typeof projectRoutes>
  | RoutesOf<typeof recordRoutes>
  | RoutesOf<typeof runRoutes>
  | RoutesOf<typeof scheduleRoutes>
  | RoutesOf<typeof secretRoutes>
  | RoutesOf<typeof sessionRoutes>
  | RoutesOf<typeof statsRoutes>
  | RoutesOf<typeof traceRoutes>
  | RoutesOf<typeof usageRoutes>
  | RoutesOf<typeof webhookRoutes>;

/** Such as `GET /api/v2/devices/:id`. */
export type EndpointName = Contract extends infer One extends RouteContract
  ? One extends RouteContract
    ? `${One['method']} ${One['path']}`
    : never
  : never;

type ContractOf<Name extends EndpointName> = Name extends `${infer Method} ${infer Path}`
  ? Extract<Contract, { method: Method; path: Path }>
  : never;

type Part<Given, Key extends string> =
  Given extends Record<Key, infer Schema extends TSchema> ? Static<Schema> : never;

type OptionalPart<Given, Key extends string> = [Part<Given, Key>] extends [never]
  ? { [Name in Key]?: never }
  : object extends Part<Given, Key>
    ? { [Name in Key]?: Part<Given, Key> }
    : { [Name in Key]: Part<Given, Key> };

/** What a call of an endpoint needs. */
export type Input<Name extends EndpointName> = OptionalPart<ContractOf<Name>, 'params'> &
  OptionalPart<ContractOf<Name>, 'query'> &
  OptionalPart<ContractOf<Name>, 'body'>;

export type Reply<Name extends EndpointName> =
  ContractOf<Name> extends infer Found extends RouteContract ? ReplyOf<Found> : never;
