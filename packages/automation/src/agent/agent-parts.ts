import type { AgentCallName, AgentCallParams, AgentCallResult } from '@phalanx/protocol';

import { withoutPrelude } from '../caller-stack.ts';
import type { Steps } from './trace/steps.ts';

/** The functions behind the global `agent`. */
export interface AgentParts {
  bridge: AgentBridge;
  /** Ends the run; never returns. */
  stop: () => never;
  /** Sets the result from JSON text; throws if it is too large. */
  setResult: (json: string) => void;
  sleep: (durationMs: number) => Promise<void>;
  /** Monotonic time in ms. */
  now: () => number;
  steps: Steps;
}

/** Bridge from the `agent` API to the host: calls by name, as listed in the protocol's `agentCalls`. */
export interface AgentBridge {
  /** Calls the host. When the signal aborts, the call rejects with the signal's reason and the host cancels it. */
  call<Name extends AgentCallName>(
    name: Name,
    params: AgentCallParams<Name>,
    signal?: AbortSignal | null,
  ): Promise<AgentCallResult<Name>>;
}

/** Failed call to the phone. `code` is a stable identifier, such as `device_offline`. */
export class AgentError extends Error {
  code = 'unknown';

  constructor() {
    super('');
    Object.defineProperty(this, 'name', { value: 'AgentError', configurable: true, writable: true });
  }

  /** Sets the reason and returns the error; its stack stays that of the call. */
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
