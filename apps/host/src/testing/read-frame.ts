import {
  HostFrameHeader,
  HostMessage,
  type HostQuestionType,
  type WireLogEntry,
  WireLogEntries,
  type DeviceReport,
  type RecordReport,
  type RunReport,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import type { RawData } from 'ws';

const messages = Compile(HostMessage);
const headers = Compile(HostFrameHeader);
const entryLists = Compile(WireLogEntries);

/** Frame that a host has sent, or its violation of the protocol. */
export type Received =
  | { kind: 'message'; message: HostMessage }
  | { kind: 'logs'; runId: string; firstSeq: number; entries: WireLogEntry[] }
  | { kind: HostQuestionType; requestId: string; bytes: Buffer }
  | { kind: 'violation'; text: string };

export function readFrame(data: RawData, isBinary: boolean): Received {
  if (!Buffer.isBuffer(data)) throw new Error('ws was told to give other data than buffers');
  return isBinary ? readBinary(data) : readText(data.toString());
}

function readText(text: string): Received {
  const message: unknown = JSON.parse(text);
  return messages.Check(message)
    ? { kind: 'message', message }
    : { kind: 'violation', text: text.slice(0, 500) };
}

function readBinary(bytes: Buffer): Received {
  const headerEnd = bytes.indexOf('\n');
  const text = bytes.subarray(0, headerEnd).toString();
  const header: unknown = JSON.parse(text);
  const payload = bytes.subarray(headerEnd + 1);
  if (!headers.Check(header)) return { kind: 'violation', text };
  if (header.type !== 'logs') return { kind: header.type, requestId: header.request_id, bytes: payload };
  const { run_id: runId, first_seq: firstSeq } = header;
  const entries: unknown = JSON.parse(payload.toString());
  if (entryLists.Check(entries)) return { kind: 'logs', runId, firstSeq, entries };
  return { kind: 'violation', text: `entries of ${runId} from ${firstSeq}` };
}

/** Message or upload that reached the service, in order of arrival. */
export type Arrival =
  | { kind: 'hello'; connection: number; runs: RunReport[]; devices: DeviceReport[]; hostId: string }
  | { kind: 'devices'; connection: number; devices: DeviceReport[] }
  | { kind: 'heartbeat'; connection: number; ready: string[] }
  | { kind: 'run'; report: RunReport }
  | { kind: 'logs'; runId: string; firstSeq: number; count: number; storedSeq: number }
  | { kind: 'record'; record: RecordReport }
  | { kind: 'capture'; path: string; status: number }
  | { [Name in HostQuestionType]: { kind: Name; requestId: string; bytes: Buffer } }[HostQuestionType]
  | { kind: 'request_failed'; requestId: string; message: string };
