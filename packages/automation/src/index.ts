export type {
  DigestOrder,
  FetchHead,
  FetchOrder,
  LookAt,
  PortAnswer,
  PortHolds,
  PortOrders,
} from './prelude/port.ts';
export { preludeScriptName, userScriptName } from './script-names.ts';
