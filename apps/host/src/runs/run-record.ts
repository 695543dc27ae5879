import { EpochMs, isEnded, RunError, type RunReport, RunStatus, Uuid } from '@phalanx/protocol';
import { Type, type Static } from 'typebox';

/** What the host keeps of a run on disk until the server has stored its end. */
export const RunRecord = Type.Object({
  run_id: Uuid,
  automation_id: Type.String(),
  serial: Type.String(),
  status: RunStatus,
  error: Type.Union([RunError, Type.Null()]),
  started_at: Type.Union([EpochMs, Type.Null()]),
  ended_at: Type.Union([EpochMs, Type.Null()]),
});
export type RunRecord = Static<typeof RunRecord>;

/** How a run ended. */
export interface RunEnd {
  status: 'completed' | 'failed' | 'stopped' | 'timed_out';
  error: RunError | null;
}

/** Reports travel by the thousand in one frame. */
const maxMessageLength = 4000;

export function failed(code: string, message: string): RunEnd {
  return { status: 'failed', error: { code, message: message.slice(0, maxMessageLength) } };
}

/** The record in the words of the protocol. An end that the server may not know yet is reported as `running`. */
export function toRunReport(record: RunRecord, mayTellEnd: boolean): RunReport {
  const { run_id, status, error, started_at, ended_at } = record;
  if (isEnded(status) && !mayTellEnd)
    return { run_id, status: 'running', error: null, started_at, ended_at: null };
  return { run_id, status, error, started_at, ended_at };
}
