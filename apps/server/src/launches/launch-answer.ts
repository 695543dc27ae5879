import type { DeviceOutcome } from '@phalanx/protocol';

import { ApiError } from '../errors/api-error.ts';
import { boundedList } from '../http/replies/bounded-list.ts';
import type { NamesOf } from './device-names.ts';
import type { LaunchOutcome } from './dispatch.ts';
import type { BegunRun } from './store.ts';

/** The reply to a launch, as it is stored, so that the same request gets it again. */
export type LaunchAnswer = ({ message: string } | { refusal: Record<'missing' | 'started', string> }) & {
  /** Missing in answers of the first release. */
  devices?: DeviceOutcome[];
};

/** What a reply says beside the outcome itself. */
interface AnswerContext {
  ackTimeoutMs: number;
  namesOf: NamesOf;
}

const count = (devices: number): string => `${devices} device${devices === 1 ? '' : 's'}`;
const hasStarted = (run: BegunRun): boolean => run.started_at !== null;

export async function answerOf(
  runs: LaunchOutcome,
  { namesOf, ackTimeoutMs }: AnswerContext,
): Promise<LaunchAnswer> {
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
    devices: runs.map((run) =>
      hasStarted(run) ? startedRow(run) : missingRow(run, nameOf(run.device_id), ackTimeoutMs),
    ),
  };
}

const startedRow = (run: BegunRun): DeviceOutcome => ({
  ...{ device_id: run.device_id, run_id: run.id },
  ...{ outcome: 'started', code: null, reason: null },
});

function missingRow(run: BegunRun, name: string, ackTimeoutMs: number): DeviceOutcome {
  const row = { device_id: run.device_id, run_id: run.id };
  if (run.error_code !== null)
    return {
      ...row,
      outcome: 'refused',
      code: run.error_code,
      reason: `${name}: ${run.error_message ?? ''}`,
    };
  const reason = `${name}: no answer within ${ackTimeoutMs / 1000} s; it does not begin any more.`;
  return { ...row, outcome: 'not_acknowledged', code: 'launch_not_acknowledged', reason };
}

/** `json` is what was stored of an answer. */
export function readAnswer(json: string): LaunchAnswer {
  // Nobody else writes the column.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(json) as LaunchAnswer;
}

/** The reply of a success; a refusal is thrown. */
export function deliver(answer: LaunchAnswer, ackTimeoutMs: number): LaunchReply {
  const { devices = [] } = answer;
  if ('message' in answer) return { success: true, message: answer.message, devices };
  const details = { seconds: ackTimeoutMs / 1000, ...answer.refusal };
  throw ApiError.of('launch_not_acknowledged', details, { devices });
}

/** The body of a success. */
export interface LaunchReply {
  success: true;
  message: string;
  devices: DeviceOutcome[];
}

/** A refusal that does not say what it means for each device means the same for all of them. */
export async function refusingEach<Result>(
  deviceIds: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400 || error.devices !== undefined) throw error;
    const { code, message: reason } = error;
    const ids = [...new Set(deviceIds)];
    throw error.withDevices(
      ids.map((device_id) => ({ device_id, outcome: 'refused', code, reason, run_id: null })),
    );
  }
}
