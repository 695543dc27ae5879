import { maxLogMessageLength, WireLogEntries, type WireLogEntry } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { ProtocolError, parseJson } from './frames.ts';

const logEntries = Compile(WireLogEntries);

const hasFittingMessage = ([, , , message]: WireLogEntry): boolean => message.length <= maxLogMessageLength;

/** Returns the entries of a log frame. Throws `ProtocolError`. */
export function parseLogEntries(payload: Buffer): WireLogEntries {
  const entries = parseJson(payload, 'a batch of log entries');
  if (logEntries.Check(entries) && entries.every(hasFittingMessage)) return entries;
  throw new ProtocolError('a batch of log entries does not fit the protocol');
}
