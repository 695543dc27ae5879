import type { AgentBridge } from './agent-bridge.ts';
import { sendInParts } from './files.ts';

interface Content {
  readonly bytes: Uint8Array;
  readonly isText: boolean;
  /** Undefined: as its name says. */
  readonly contentType?: string;
}

export function createRun(bridge: AgentBridge): AgentRun {
  return {
    attach: async (name, data, options = {}) => {
      const { bytes, isText, ...content } = contentOf(data);
      const contentType = options.contentType ?? content.contentType;
      const about = { name: String(name), isText, ...(contentType !== undefined && { contentType }) };
      await sendInParts(bytes, (part) => bridge.call('run.attach', { ...about, ...part }, options.signal));
    },
  };
}

function contentOf(data: unknown): Content {
  if (data instanceof Uint8Array) return { bytes: data, isText: false };
  if (data instanceof ArrayBuffer) return { bytes: new Uint8Array(data), isText: false };
  const encoder = new TextEncoder();
  if (typeof data === 'string') return { bytes: encoder.encode(data), isText: true };
  // Without a value for functions, symbols and undefined, whatever its type says.
  const json: string | undefined = JSON.stringify(data, null, 2);
  if (json !== undefined)
    return { bytes: encoder.encode(json), isText: true, contentType: 'application/json' };
  throw new TypeError(`A file holds text, bytes, or what JSON can hold, but this is ${typeof data}.`);
}
