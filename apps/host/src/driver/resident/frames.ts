/** Kinds of frames; the other side has the same in Requests.java. */
export const requestKind = {
  hello: 1,
  read: 2,
  gesture: 3,
  key: 4,
  field: 5,
  setText: 6,
  readClipboard: 7,
  writeClipboard: 8,
  picture: 9,
  watch: 10,
  release: 11,
} as const;

/** The first byte of a watch. With the last, the helper also looks at the screen by itself. */
export const watchKind = { tell: 1, tellAndLook: 2 } as const;

export const answerKind = { ok: 64, same: 65, tree: 66, error: 67, changed: 68 } as const;

export interface Frame {
  readonly kind: number;
  readonly id: number;
  readonly payload: Buffer;
}

const lengthBytes = 4;
/** Of kind and id, which the length counts. */
const headBytes = 5;
const maxAnswerBytes = 32 * 1024 * 1024;

export function encodeFrame({ kind, id, payload }: Frame): Buffer {
  const head = Buffer.alloc(lengthBytes + headBytes);
  head.writeUInt32BE(headBytes + payload.length, 0);
  head.writeUInt8(kind, 4);
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

/** The frames of a stream. Throws on a length that the helper never sends; nothing is reserved by it. */
export async function* readFrames(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let parts: Uint8Array[] = [];
  let held = 0;
  /** Bytes of the first frame, as far as they are known. */
  let wanted = lengthBytes;
  for await (const part of stream) {
    parts.push(part);
    held += part.length;
    if (held < wanted) continue;
    let bytes = Buffer.concat(parts);
    for (;;) {
      wanted = lengthBytes;
      if (bytes.length < wanted) break;
      wanted += checkedLength(bytes.readUInt32BE(0));
      if (bytes.length < wanted) break;
      yield { kind: bytes.readUInt8(4), id: bytes.readUInt32BE(5), payload: bytes.subarray(9, wanted) };
      bytes = bytes.subarray(wanted);
    }
    parts = [bytes];
    held = bytes.length;
  }
}

function checkedLength(length: number): number {
  if (length >= headBytes && length <= headBytes + maxAnswerBytes) return length;
  throw new Error(`The helper on the phone sent a frame of ${length} bytes.`);
}
