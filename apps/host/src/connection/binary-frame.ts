import type { HostFrameHeader } from '@phalanx/protocol';

/** A JSON header, a line feed, and the payload. */
export function encodeBinaryFrame(header: HostFrameHeader, payload: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), payload]);
}
