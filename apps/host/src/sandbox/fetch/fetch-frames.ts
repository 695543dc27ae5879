/**
 * Frames between a sandbox process and the broker over their socket: a head (JSON) and bytes, each preceded by its
 * length (4 bytes, big-endian).
 */
import type { FetchOrder } from '@phalanx/automation';

/** Request of the sandbox process. The bytes of `fetch` are the request's body. */
export type FetchRequest = { type: 'fetch'; order: FetchOrder } | { type: 'abort'; id: number };

/** Reply of the broker: the response body in pieces, then its head or the reason for the failure. */
export type FetchReply =
  | { type: 'body'; id: number }
  | { type: 'answered' | 'failed'; id: number; json: string };

export interface Frame {
  head: string;
  bytes: Buffer;
}

const lengthsBytes = 8;
const maxHeadBytes = 1024 * 1024;

export function encodeFetchFrame(
  message: FetchRequest | FetchReply,
  bytes: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.from(JSON.stringify(message));
  const lengths = Buffer.allocUnsafe(lengthsBytes);
  lengths.writeUInt32BE(head.length, 0);
  lengths.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([lengths, head, bytes]);
}

/** Yields the complete frames of a stream. Throws when a frame exceeds the maximum size. */
export async function* readFetchFrames(
  stream: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Frame, void> {
  let chunks: Buffer[] = [];
  let held = 0;
  let wanted = lengthsBytes;
  for await (const chunk of stream) {
    chunks.push(chunk);
    held += chunk.length;
    while (held >= wanted) {
      const whole = chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
      const headLength = whole.readUInt32BE(0);
      const end = lengthsBytes + headLength + whole.readUInt32BE(4);
      if (headLength > maxHeadBytes || end > maxBytes) throw new Error('a frame of fetch is too large');
      chunks = [whole];
      wanted = end;
      if (held < end) break;
      const head = whole.toString('utf8', lengthsBytes, lengthsBytes + headLength);
      yield { head, bytes: whole.subarray(lengthsBytes + headLength, end) };
      chunks = [whole.subarray(end)];
      held -= end;
      wanted = lengthsBytes;
    }
  }
}
