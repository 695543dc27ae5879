import { type AgentBridge, AgentError } from './agent-parts.ts';

const dayMs = 24 * 60 * 60_000;
/**
 * Default age limit of messages in ms: a code may have arrived while the automation was still looking for the field.
 */
const defaultLookBackMs = 10_000;
const defaultTimeoutMs = 60_000;
const pauseMs = 1500;
const defaultPattern = /(?<!\d)\d{4,8}(?!\d)/;

interface MessageParts {
  readonly bridge: AgentBridge;
  readonly sleep: (durationMs: number) => Promise<void>;
  readonly now: () => number;
}

export function createMessages({ bridge, sleep, now }: MessageParts): AgentMessages {
  const list: AgentMessages['list'] = async ({ since = Date.now() - dayMs, from, signal } = {}) =>
    bridge.call(
      'message.list',
      { since: Number(since), ...(from !== undefined && { from: String(from) }) },
      signal,
    );
  return {
    list,
    async waitForCode(options = {}) {
      const { since = Date.now() - defaultLookBackMs, from, pattern = defaultPattern, signal } = options;
      const { timeoutMs = defaultTimeoutMs } = options;
      // Created first, so that its stack is the caller's.
      const error = new AgentError();
      const until = now() + timeoutMs;
      for (;;) {
        const isLast = now() >= until;
        const messages = await list({ since, ...(from !== undefined && { from }), signal: signal ?? null });
        for (const { text } of messages) {
          const found = new RegExp(pattern, pattern.flags.replaceAll(/[gy]/g, '')).exec(text);
          if (found !== null) return found[1] ?? found[0];
        }
        if (isLast)
          throw error.because({ code: 'no_code', message: sorry(messages.length, timeoutMs, from) });
        await sleep(Math.max(0, Math.min(pauseMs, until - now())));
        signal?.throwIfAborted();
      }
    },
  };
}

function sorry(messages: number, timeoutMs: number, from: string | undefined): string {
  const sender = from === undefined ? '' : ` from ${from}`;
  const others = messages === 0 ? 'no message came' : `${messages} came without one`;
  return `Waited ${(timeoutMs / 1000).toFixed(1)} s for a text message${sender} with a code: ${others}.`;
}
