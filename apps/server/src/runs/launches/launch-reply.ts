import type { DeviceOutcome } from '@phalanx/protocol';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import type { LaunchOutcome } from './await-start.ts';
import type { LaunchedRun } from './store.ts';

/** Looks up names of devices for messages: IDs with serial numbers. */
export type NamesOf = (deviceIds: readonly string[]) => Promise<(deviceId: string) => string>;

/** Reply to a launch as it is stored, so that a repeated request gets the same reply. */
export type LaunchAnswer = ({ message: string } | { refusal: Record<'missing' | 'started', string> }) & {
  /** Missing in replies stored by the first release. */
  devices?: DeviceOutcome[];
};

const count = (devices: number): string => `${devices} device${devices === 1 ? '' : 's'}`;
const hasStarted = (run: LaunchedRun): boolean => run.started_at !== null;

/** Creates the reply to a launch from the state of its runs. */
export async function answerOf(runs: LaunchOutcome, namesOf: NamesOf): Promise<LaunchAnswer> {
  const [started, missing] = [runs.filter(hasStarted), runs.filter((run) => !hasStarted(run))];
  if (missing.length === 0)
    return { message: `Started on ${count(started.length)}.`, devices: started.map(startedRow) };
  const nameOf = await namesOf(runs.map((run) => run.device_id));
  const namesOfStarted = started.map((run) => nameOf(run.device_id));
  return {
    refusal: {
      missing: boundedList(
        missing.map((run) => `${nameOf(run.device_id)} (${run.error_message ?? 'no answer'})`),
      ),
      started: started.length === 0 ? 'none' : boundedList(namesOfStarted, ', '),
    },
    devices: runs.map((run) => (hasStarted(run) ? startedRow(run) : missingRow(run, nameOf(run.device_id)))),
  };
}

const startedRow = (run: LaunchedRun): DeviceOutcome => ({
  device_id: run.device_id,
  run_id: run.id,
  outcome: 'started',
  code: null,
  reason: null,
});

function missingRow(run: LaunchedRun, name: string): DeviceOutcome {
  const row = { device_id: run.device_id, run_id: run.id };
  if (run.error_code !== null)
    return {
      ...row,
      outcome: 'refused',
      code: run.error_code,
      reason: `${name}: ${run.error_message ?? ''}`,
    };
  const reason = `${name}: no answer in time; it will not start.`;
  return { ...row, outcome: 'not_acknowledged', code: 'launch_not_acknowledged', reason };
}

/** Parses the stored JSON of a reply. */
export function readAnswer(json: string): LaunchAnswer {
  // The column is written only by `LaunchAnswers`.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(json) as LaunchAnswer;
}

/** Returns the reply of a successful launch. Throws `launch_not_acknowledged` for a refusal. */
export function deliver(answer: LaunchAnswer): LaunchReply {
  const { devices = [] } = answer;
  if ('message' in answer) return { success: true, message: answer.message, devices };
  throw ApiError.of('launch_not_acknowledged', answer.refusal, { devices });
}

/** Body of a successful reply. */
export interface LaunchReply {
  success: true;
  message: string;
  devices: DeviceOutcome[];
}

/** Adds an outcome per device to a refusal that has none, because the refusal applies to all of them. */
export function withDeviceRefusals(error: unknown, deviceIds: readonly string[]): unknown {
  if (!(error instanceof ApiError) || error.status !== 400 || error.devices !== undefined) return error;
  if (deviceIds.length === 0) return error;
  const { code, message: reason } = error;
  const ids = [...new Set(deviceIds)];
  return error.withDevices(
    ids.map((device_id) => ({ device_id, outcome: 'refused', code, reason, run_id: null })),
  );
}
