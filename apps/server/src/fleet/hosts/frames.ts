import { HostFrameHeader, HostMessage, maxTextFrameBytes } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { findExcess, jsonBounds } from '../../http/requests/bodies/json-bounds.ts';

const hostMessage = Compile(HostMessage);
const frameHeader = Compile(HostFrameHeader);

const lineFeed = 0x0a;
/** Maximum bytes of a header. A header names a run or a request, so anything longer is invalid. */
const maxHeaderBytes = 1024;

/** Message that violates the protocol; the error text is shown to the operator of the host. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

export function parseJson(bytes: Buffer, what: string, revive?: Reviver): unknown {
  const excess = findExcess(bytes, jsonBounds.hostMessage);
  if (excess !== undefined) throw new ProtocolError(`${what} ${excess}`);
  try {
    return JSON.parse(bytes.toString('utf8'), revive);
  } catch (error) {
    throw new ProtocolError(`${what} is not JSON`, { cause: error });
  }
}

type Reviver = (key: string, value: unknown) => unknown;

/** Start of escape sequences that may encode characters that a database text column can't store. */
const suspicious = ['\\u0000', '\\ud', '\\uD'];

/**
 * Replaces characters that can't be stored: PostgreSQL text can't contain NUL, and no encoding has lone surrogates.
 * Otherwise the host would retry the message indefinitely.
 */
const toStorable: Reviver = (_key, value) =>
  typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;

const runsHead = Buffer.from('{"type":"runs"');

/** Recognizes a `runs` message by its first bytes: hosts write the type first. */
export const isOfRuns = (bytes: Buffer): boolean => bytes.subarray(0, runsHead.length).equals(runsHead);

export function parseHostMessage(bytes: Buffer): HostMessage {
  if (bytes.length > maxTextFrameBytes)
    throw new ProtocolError(`a message has more than ${maxTextFrameBytes} bytes`);
  const isSuspicious = suspicious.some((text) => bytes.includes(text));
  const message = parseJson(bytes, 'a message', isSuspicious ? toStorable : undefined);
  if (hostMessage.Check(message)) return message;
  throw new ProtocolError('a message does not fit the protocol');
}

export function parseFrame(frame: Buffer): { header: HostFrameHeader; payload: Buffer } {
  const end = frame.subarray(0, maxHeaderBytes).indexOf(lineFeed);
  if (end === -1) throw new ProtocolError('a binary frame has no header');
  const header = parseJson(frame.subarray(0, end), 'a header');
  if (!frameHeader.Check(header)) throw new ProtocolError('a header does not fit the protocol');
  return { header, payload: frame.subarray(end + 1) };
}
