/** Frames of both directions on a child's stdin and stdout: a 4-byte big-endian length, and that many bytes of JSON. */
const headerBytes = 4;

export function encodeFrame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  const frame = Buffer.allocUnsafe(headerBytes + body.length);
  frame.writeUInt32BE(body.length);
  body.copy(frame, headerBytes);
  return frame;
}

/** Collects bytes and returns the complete frames. Throws when a frame exceeds `maxBytes`. */
export function createFrameReader(maxBytes: number): (bytes: Buffer) => unknown[] {
  let chunks: Buffer[] = [];
  let heldBytes = 0;
  let wantedBytes = headerBytes;

  return (bytes) => {
    chunks.push(bytes);
    heldBytes += bytes.length;
    if (heldBytes < wantedBytes) return [];
    const { messages, rest } = splitFrames(Buffer.concat(chunks), maxBytes);
    chunks = [rest];
    heldBytes = rest.length;
    wantedBytes = rest.length < headerBytes ? headerBytes : headerBytes + rest.readUInt32BE();
    return messages;
  };
}

function splitFrames(bytes: Buffer, maxBytes: number): { messages: unknown[]; rest: Buffer } {
  const messages: unknown[] = [];
  let start = 0;
  while (bytes.length - start >= headerBytes) {
    const length = bytes.readUInt32BE(start);
    if (length > maxBytes) throw new Error(`A frame of ${length} bytes is over the limit of ${maxBytes}.`);
    const end = start + headerBytes + length;
    if (end > bytes.length) break;
    messages.push(JSON.parse(bytes.toString('utf8', start + headerBytes, end)));
    start = end;
  }
  return { messages, rest: bytes.subarray(start) };
}
