import { AgentError } from '../agent/agent-error.ts';
import type { AgentBridge } from '../agent/agent-bridge.ts';
import { parse } from './order-json.ts';
import type { Port } from './port.ts';

interface Waiting {
  resolve: (value: never) => void;
  reject: (reason: unknown) => void;
  error: AgentError;
}

type CallResult = { ok: true; value?: unknown } | { ok: false; error: { code: string; message: string } };

/** The bridge of `agent` over the port. An error is made at the call, so that its stack is the caller's. */
export function createSandboxBridge(port: Port) {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  const bridge: AgentBridge = {
    // Without an executor function, which would stand in the stack.
    async call(name, params, signal) {
      signal?.throwIfAborted();
      const id = ++lastId;
      const refused = port.ask('call', { id, name, params });
      if (refused !== undefined) throw new RangeError(String(refused));
      const { promise, resolve, reject } = Promise.withResolvers<never>();
      waiting.set(id, { resolve, reject, error: new AgentError() });
      if (signal === undefined || signal === null) return promise;
      const cancel = (): void => {
        waiting.delete(id);
        port.ask('cancelCall', { id });
        reject(signal.reason);
      };
      signal.addEventListener('abort', cancel);
      return promise.finally(() => signal.removeEventListener('abort', cancel));
    },
  };

  /** The child brings the result of a call. */
  function settle(id: number, json: string): void {
    const call = waiting.get(id);
    if (call === undefined) return;
    waiting.delete(id);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the child wrote it
    const result = parse(json) as CallResult;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the host answers as the table of calls says
    if (result.ok) call.resolve(result.value as never);
    else call.reject(call.error.because(result.error));
  }
  return { bridge, settle };
}
