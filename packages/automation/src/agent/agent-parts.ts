import type { AgentCallName, AgentCallParams, AgentCallResult } from '@phalanx/protocol';

import { withoutPrelude } from '../caller-stack.ts';
import type { Steps } from './trace/steps.ts';

/** The functions behind the global `agent`. */
export interface AgentParts {
  bridge: AgentBridge;
  /** Ends the run; does not return. */
  stop: () => never;
  /** Takes JSON text; throws when it is too large. */
  setResult: (json: string) => void;
  sleep: (durationMs: number) => Promise<void>;
  /** Milliseconds that never go backwards. */
  now: () => number;
  steps: Steps;
}

/** How the `agent` API reaches the host: a call by name, as listed in the protocol's `agentCalls`. */
export interface AgentBridge {
  /** Calls the host. When the signal aborts, the call rejects with the reason of the signal, and the host gives it up. */
  call<Name extends AgentCallName>(
    name: Name,
    params: AgentCallParams<Name>,
    signal?: AbortSignal | null,
  ): Promise<AgentCallResult<Name>>;
}

/** A call to the phone that failed. `code` is a stable word, such as `device_offline`. */
export class AgentError extends Error {
  code = 'unknown';

  constructor() {
    super('');
    Object.defineProperty(this, 'name', { value: 'AgentError', configurable: true, writable: true });
  }

  /** The same error with its reason; the stack stays that of the call. */
  because(reason: { code: string; message: string }): this {
    const frames = withoutPrelude(String(this.stack)).split('\n').slice(1);
    const define = (name: string, value: string): unknown =>
      Object.defineProperty(this, name, { value, configurable: true, writable: true });
    define('message', reason.message);
    define('stack', [`AgentError: ${reason.message}`, ...frames].join('\n'));
    this.code = reason.code;
    return this;
  }
}
