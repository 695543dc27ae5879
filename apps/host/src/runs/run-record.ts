import {
  EpochMs,
  isEnded,
  maxRunResultBytes,
  RunApp,
  RunError,
  RunOutcome,
  type RunReport,
  RunStatus,
  Uuid,
} from '@phalanx/protocol';
import { Type, type Static } from 'typebox';

/** What the host keeps of a run on disk until the server has stored its end. */
export const RunRecord = Type.Object({
  run_id: Uuid,
  automation_id: Type.String(),
  serial: Type.String(),
  status: RunStatus,
  error: Type.Union([RunError, Type.Null()]),
  outcome: Type.Optional(RunOutcome),
  /** JSON text. */
  result: Type.Optional(Type.String({ maxLength: maxRunResultBytes })),
  app: Type.Optional(RunApp),
  started_at: Type.Union([EpochMs, Type.Null()]),
  ended_at: Type.Union([EpochMs, Type.Null()]),
});
export type RunRecord = Static<typeof RunRecord>;

/** How a run ended. */
export interface RunEnd {
  status: 'completed' | 'failed' | 'stopped' | 'timed_out';
  error: RunError | null;
  /** Where it says more than the status. */
  outcome?: RunOutcome;
  /** JSON text of what the run gave as its result. */
  result?: string;
  /** The app that it was about, as far as the phone says. */
  app?: RunApp;
}

/** Reports travel by the thousand in one frame. */
const maxMessageLength = 4000;

export function failed(code: string, message: string, stack: string | null = null): RunEnd {
  return { status: 'failed', error: { code, message: message.slice(0, maxMessageLength), stack } };
}

/** The record in the words of the protocol. An end that the server may not know yet is reported as what was before it. */
export function toRunReport(record: RunRecord, mayTellEnd: boolean): RunReport {
  const { automation_id: _automation, serial: _serial, ...report } = record;
  if (!isEnded(record.status) || mayTellEnd) return report;
  const { run_id, started_at } = record;
  const status = started_at === null ? 'starting' : 'running';
  return { run_id, status, error: null, started_at, ended_at: null };
}
