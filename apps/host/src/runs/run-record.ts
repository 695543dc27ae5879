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

/** Record of a run that the host keeps on disk until the server has stored the run's end. */
export const RunRecord = Type.Object({
  run_id: Uuid,
  automation_id: Type.String(),
  serial: Type.String(),
  status: RunStatus,
  error: Type.Union([RunError, Type.Null()]),
  outcome: Type.Optional(RunOutcome),
  /** Result as JSON text. */
  result: Type.Optional(Type.String({ maxLength: maxRunResultBytes })),
  app: Type.Optional(RunApp),
  started_at: Type.Union([EpochMs, Type.Null()]),
  ended_at: Type.Union([EpochMs, Type.Null()]),
});

/** Maximum length of an error message: thousands of reports share one frame. */
const maxMessageLength = 4000;

export type RunRecord = Static<typeof RunRecord>;

/** End of a run. */
export interface RunEnd {
  status: 'completed' | 'failed' | 'stopped' | 'timed_out';
  error: RunError | null;
  /** Outcome when it says more than the status. */
  outcome?: RunOutcome;
  /** Result of the run as JSON text. */
  result?: string;
  /** Main app of the run, as far as the phone reports it. */
  app?: RunApp;
}

export function failed(code: string, message: string, stack: string | null = null): RunEnd {
  return { status: 'failed', error: { code, message: message.slice(0, maxMessageLength), stack } };
}

/** Converts the record to the protocol. An end that must not be reported yet appears as the state before it. */
export function toRunReport(record: RunRecord, mayTellEnd: boolean): RunReport {
  const { automation_id: _automation, serial: _serial, ...report } = record;
  if (!isEnded(record.status) || mayTellEnd) return report;
  const { run_id, started_at } = record;
  const status = started_at === null ? 'starting' : 'running';
  return { run_id, status, error: null, started_at, ended_at: null };
}
