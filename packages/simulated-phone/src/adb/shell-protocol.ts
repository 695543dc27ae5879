/** Packet kinds of the shell protocol (`shell,v2:`): one byte of kind, four of length, the data. */
export const shellPacket = {
  stdin: 0,
  stdout: 1,
  stderr: 2,
  exit: 3,
  closeStdin: 4,
  windowSize: 5,
} as const;

const headerBytes = 5;
const maxPacketBytes = 1024 * 1024;

/** Keeps a packet small enough for any peer's payload limit to carry it without being split often. */
const maxOutputBytes = 64 * 1024 - headerBytes;

export function encodeShellPacket(kind: number, data: Buffer): Buffer {
  const header = Buffer.allocUnsafe(headerBytes);
  header.writeUInt8(kind, 0);
  header.writeUInt32LE(data.length, 1);
  return Buffer.concat([header, data]);
}

/** One output as packets of bounded size. */
export function* encodeShellOutput(kind: number, data: Buffer): Generator<Buffer> {
  for (let start = 0; start < data.length; start += maxOutputBytes) {
    yield encodeShellPacket(kind, data.subarray(start, start + maxOutputBytes));
  }
}

export interface ShellPacket {
  readonly kind: number;
  readonly data: Buffer;
}

/** Yields the packets of a stream. Throws on one that is larger than the protocol's limit. */
export async function* readShellPackets(chunks: AsyncIterable<Buffer>): AsyncGenerator<ShellPacket> {
  let buffered: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
    while (buffered.length >= headerBytes) {
      const dataBytes = buffered.readUInt32LE(1);
      if (dataBytes > maxPacketBytes) throw new Error(`A shell packet of ${dataBytes} bytes is too large.`);
      const end = headerBytes + dataBytes;
      if (buffered.length < end) break;
      yield { kind: buffered.readUInt8(0), data: buffered.subarray(headerBytes, end) };
      buffered = buffered.subarray(end);
    }
  }
}
