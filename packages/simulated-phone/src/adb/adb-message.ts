/** Commands of the ADB protocol, each the four ASCII letters of its name read as little-endian. */
export const adbCommand = {
  cnxn: 0x4e584e43,
  auth: 0x48545541,
  open: 0x4e45504f,
  okay: 0x59414b4f,
  clse: 0x45534c43,
  wrte: 0x45545257,
} as const;

export const headerBytes = 24;

/** The largest payload that this device takes and offers, as Android 9 and later do. */
export const maxPayloadBytes = 1024 * 1024;

/** Before the handshake is done nothing legitimate is larger than this. */
export const maxHandshakeBytes = 4096;

/** From this protocol version on, checksums are neither sent nor looked at. */
export const versionWithoutChecksum = 0x01000001;
export const oldestVersion = 0x01000000;

export interface AdbMessage {
  readonly command: number;
  readonly arg0: number;
  readonly arg1: number;
  readonly payload: Buffer;
}

export function checksum(payload: Uint8Array): number {
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
