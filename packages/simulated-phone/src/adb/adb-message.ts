/** Commands of the ADB protocol, each the four ASCII letters of its name read as little-endian. */
export const adbCommand = {
  cnxn: 0x4e584e43,
  auth: 0x48545541,
  open: 0x4e45504f,
  okay: 0x59414b4f,
  clse: 0x45534c43,
  wrte: 0x45545257,
} as const;

const headerBytes = 24;

/** Maximum payload that this device accepts and offers, as on Android 9 and later. */
export const maxPayloadBytes = 1024 * 1024;

/** Maximum size of a message before the end of the handshake; no legitimate message is larger. */
export const maxHandshakeBytes = 4096;

/** Protocol version from which checksums are neither sent nor verified. */
export const versionWithoutChecksum = 0x01000001;
export const oldestVersion = 0x01000000;

export interface AdbMessage {
  readonly command: number;
  readonly arg0: number;
  readonly arg1: number;
  readonly payload: Buffer;
}

function checksum(payload: Uint8Array): number {
  let sum = 0;
  for (const byte of payload) sum = (sum + byte) >>> 0;
  return sum;
}

export function encodeHeader(message: AdbMessage, withChecksum: boolean): Buffer {
  const header = Buffer.allocUnsafe(headerBytes);
  header.writeUInt32LE(message.command, 0);
  header.writeUInt32LE(message.arg0, 4);
  header.writeUInt32LE(message.arg1, 8);
  header.writeUInt32LE(message.payload.length, 12);
  header.writeUInt32LE(withChecksum ? checksum(message.payload) : 0, 16);
  header.writeUInt32LE((message.command ^ 0xffffffff) >>> 0, 20);
  return header;
}

/** Thrown when a peer's bytes violate the ADB protocol. The connection must be closed. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

interface ReaderLimits {
  /** Returns the limit; queried for each message, because the limit grows after the handshake. */
  maxPayloadBytes(): number;
  checksumRequired(): boolean;
}

interface Header {
  readonly command: number;
  readonly arg0: number;
  readonly arg1: number;
  readonly payloadBytes: number;
  readonly checksum: number;
}

function parseHeader(bytes: Buffer, maxPayload: number): Header {
  const command = bytes.readUInt32LE(0);
  const payloadBytes = bytes.readUInt32LE(12);
  if (bytes.readUInt32LE(20) !== (command ^ 0xffffffff) >>> 0) {
    throw new ProtocolError('An ADB message has a magic that does not match its command.');
  }
  if (payloadBytes > maxPayload) {
    throw new ProtocolError(`An ADB message announces ${payloadBytes} bytes; the limit is ${maxPayload}.`);
  }
  return {
    command,
    arg0: bytes.readUInt32LE(4),
    arg1: bytes.readUInt32LE(8),
    payloadBytes,
    checksum: bytes.readUInt32LE(16),
  };
}

/** Splits a byte stream into ADB messages. Buffers at most one message. */
export class MessageReader {
  readonly #limits: ReaderLimits;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  #header: Header | undefined;

  constructor(limits: ReaderLimits) {
    this.#limits = limits;
  }

  /** Yields each message that the chunk completes; throws ProtocolError on a malformed one. */
  *push(chunk: Buffer): Generator<AdbMessage> {
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.length;
    for (let message = this.#next(); message; message = this.#next()) yield message;
  }

  #next(): AdbMessage | undefined {
    if (!this.#header) {
      if (this.#bufferedBytes < headerBytes) return undefined;
      this.#header = parseHeader(this.#take(headerBytes), this.#limits.maxPayloadBytes());
    }
    const header = this.#header;
    if (this.#bufferedBytes < header.payloadBytes) return undefined;
    this.#header = undefined;
    const payload = this.#take(header.payloadBytes);
    if (this.#limits.checksumRequired() && checksum(payload) !== header.checksum) {
      throw new ProtocolError('An ADB message has a wrong checksum.');
    }
    return { command: header.command, arg0: header.arg0, arg1: header.arg1, payload };
  }

  #take(sizeBytes: number): Buffer {
    const first = this.#chunks[0];
    if (sizeBytes === 0 || !first) return Buffer.alloc(0);
    this.#bufferedBytes -= sizeBytes;
    if (first.length > sizeBytes) {
      this.#chunks[0] = first.subarray(sizeBytes);
      return first.subarray(0, sizeBytes);
    }
    const all = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#chunks = all.length > sizeBytes ? [all.subarray(sizeBytes)] : [];
    return all.subarray(0, sizeBytes);
  }
}
