import { type AgentBridge, AgentError } from './agent-parts.ts';

/** Number of arguments of one `String.fromCharCode` call; a much larger number would overflow the stack. */
const sliceLength = 8192;

const maxFileBytes = 50_000_000;
/** Bytes per call, because a call takes at most 500,000 characters. */
const partBytes = 360 * 1024;

/** Sends bytes to the host in chunks. */
export async function sendInParts(
  bytes: Uint8Array,
  send: (part: { part: number; isLast: boolean; base64: string }) => Promise<void>,
): Promise<void> {
  const last = Math.max(0, Math.ceil(bytes.length / partBytes) - 1);
  for (let part = 0; part <= last; part += 1) {
    const base64 = toBase64(bytes.subarray(part * partBytes, (part + 1) * partBytes));
    await send({ part, isLast: part === last, base64 });
  }
}

/** Transfers files in chunks, so that neither side holds more than one chunk besides the file itself. */
export function createFiles(bridge: AgentBridge): AgentFiles {
  return {
    list: (folder) => bridge.call('file.list', { path: String(folder) }),
    read: async (path) => readFile(bridge, String(path)),
    async write(path, content) {
      await writeFile(bridge, String(path), bytesOf(content));
      return { inMediaStore: await bridge.call('file.scan', { path: String(path) }) };
    },
    delete: (path) => bridge.call('file.delete', { path: String(path) }),
  };
}

async function readFile(bridge: AgentBridge, path: string): Promise<Uint8Array> {
  // Created first, so that its stack is the caller's.
  const error = new AgentError();
  const first = await bridge.call('file.read', { path, part: 0, partBytes });
  requireSize(first.sizeBytes);
  const bytes = new Uint8Array(first.sizeBytes);
  for (let part = 0; part === 0 || part * partBytes < bytes.length; part += 1) {
    const { base64 } = part === 0 ? first : await bridge.call('file.read', { path, part, partBytes });
    const offset = part * partBytes;
    const content = fromBase64(base64).subarray(0, bytes.length - offset);
    if (content.length < Math.min(partBytes, bytes.length - offset)) throw error.because(becameShorter(path));
    bytes.set(content, offset);
  }
  return bytes;
}

const becameShorter = (path: string): { code: string; message: string } => ({
  code: 'phone_answer_unexpected',
  message: `${path} became shorter while it was read.`,
});

export async function writeFile(bridge: AgentBridge, path: string, bytes: Uint8Array): Promise<void> {
  requireSize(bytes.length);
  await sendInParts(bytes, ({ part, base64 }) =>
    bridge.call('file.write', { path, base64, isFirst: part === 0 }),
  );
}

function requireSize(sizeBytes: number): void {
  if (sizeBytes > maxFileBytes)
    throw new RangeError(`The file has ${sizeBytes} bytes; it may have ${maxFileBytes}.`);
}

export function bytesOf(content: unknown): Uint8Array {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  if (content instanceof Uint8Array) return content;
  throw new TypeError('The content of a file is a string or a Uint8Array.');
}

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += sliceLength)
    text += String.fromCharCode(...bytes.subarray(start, start + sliceLength));
  return btoa(text);
}

export function fromBase64(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}
