import { HostFrameHeader, HostMessage, maxTextFrameBytes } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { findExcess, jsonBounds } from '../../http/requests/bodies/json-bounds.ts';

const hostMessage = Compile(HostMessage);
const frameHeader = Compile(HostFrameHeader);

const lineFeed = 0x0a;
/** A header names a run or a request; more is not one. */
const maxHeaderBytes = 1024;

/** A message that does not fit the protocol; the text goes to the host's operator. */
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

/** The beginning of an escape that may stand for what no text in a database can have. */
const suspicious = ['\\u0000', '\\ud', '\\uD'];

/**
 * PostgreSQL has no NUL in a text, and no encoding has half a surrogate pair: what a host would repeat for ever
 * because it can't be stored is replaced.
 */
const toStorable: Reviver = (_key, value) =>
  typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;

const runsHead = Buffer.from('{"type":"runs"');

/** Recognises a `runs` message by its beginning: hosts write the type first. */
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
