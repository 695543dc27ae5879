import {
  HostFrameHeader,
  HostMessage,
  maxLogMessageLength,
  maxTextFrameBytes,
  WireLogEntries,
  type WireLogEntry,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import { findExcess, usualBounds } from '../http/json-bounds.ts';

const hostMessage = Compile(HostMessage);
const frameHeader = Compile(HostFrameHeader);
const logEntries = Compile(WireLogEntries);

const lineFeed = 0x0a;
/** A header names a run or a request; more is not one. */
const maxHeaderBytes = 1024;

/** Twelve names for each run or phone of a full page. */
const bounds = { ...usualBounds, names: 100_000 };

/** A message that does not fit the protocol; the text goes to the host's operator. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

function parseJson(bytes: Buffer, what: string): unknown {
  const excess = findExcess(bytes, bounds);
  if (excess !== undefined) throw new ProtocolError(`${what} ${excess}`);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new ProtocolError(`${what} is not JSON`, { cause: error });
  }
}

export function parseHostMessage(bytes: Buffer): HostMessage {
  if (bytes.length > maxTextFrameBytes)
    throw new ProtocolError(`a message has more than ${maxTextFrameBytes} bytes`);
  const message = parseJson(bytes, 'a message');
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

const hasFittingMessage = ([, , , message]: WireLogEntry): boolean => message.length <= maxLogMessageLength;

export function parseLogEntries(payload: Buffer): WireLogEntries {
  const entries = parseJson(payload, 'a batch of log entries');
  if (logEntries.Check(entries) && entries.every(hasFittingMessage)) return entries;
  throw new ProtocolError('a batch of log entries does not fit the protocol');
}
