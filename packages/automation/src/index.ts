export type { FetchHead, FetchOrder, PortAnswer, PortOrders } from './prelude/port.ts';
export { preludeScriptName, userScriptName } from './script-names.ts';
