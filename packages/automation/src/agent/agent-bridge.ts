import type { AgentCallName, AgentCallParams, AgentCallResult } from '@phalanx/protocol';

/** How the `agent` API reaches the host: a call by name, as listed in the protocol's `agentCalls`. */
export interface AgentBridge {
  call<Name extends AgentCallName>(name: Name, params: AgentCallParams<Name>): Promise<AgentCallResult<Name>>;
}
