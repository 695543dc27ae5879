import type { AgentCallName, AgentCallParams, AgentCallResult } from '@phalanx/protocol';

/** How the `agent` API reaches the host: a call by name, as listed in the protocol's `agentCalls`. */
export interface AgentBridge {
  /** When the signal aborts, the call rejects with its reason, and the host gives it up. */
  call<Name extends AgentCallName>(
    name: Name,
    params: AgentCallParams<Name>,
    signal?: AbortSignal | null,
  ): Promise<AgentCallResult<Name>>;
}
