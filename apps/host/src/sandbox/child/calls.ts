import type { SandboxCallResult } from '@phalanx/protocol';

import type { HostChannel } from './host-channel.ts';

/** The host allows the same number; the phone does one thing at a time anyway. */
const maxCalls = 64;

/** The `agent` calls of one run. Each counts against the limit until its result is in the isolate. */
export function createCalls(
  channel: HostChannel,
  settle: (id: number, result: SandboxCallResult) => Promise<void>,
) {
  const waiting = new Set<number>();
  let settling = 0;
  return {
    pending: () => waiting.size,
    start({ id, name, params }: { id: number; name: string; params: unknown }): string | undefined {
      if (waiting.size + settling >= maxCalls)
        return `Too many calls: at most ${maxCalls} calls of agent may wait at a time.`;
      if (waiting.has(id)) return 'A call with this number waits already.';
      waiting.add(id);
      channel.send({ type: 'call', id, name, params });
      return undefined;
    },
    /** It waits on: the host answers what it gave up, too. */
    cancel(id: number): void {
      if (waiting.has(id)) channel.send({ type: 'cancel', id });
    },
    finish(id: number, result: SandboxCallResult): void {
      if (!waiting.delete(id)) return;
      settling += 1;
      void settle(id, result).finally(() => (settling -= 1));
    },
  };
}
