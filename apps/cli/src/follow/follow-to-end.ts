import type { ApiClient } from '@phalanx/client/api-client';
import { followRuns } from '@phalanx/client/follow-runs';
import { operationsOf } from '@phalanx/client/operations';
import type { DeviceOutcome, LogEntry, RunDetail } from '@phalanx/protocol';

import { Absence } from './absence.ts';

export interface FollowedRun {
  readonly runId: string;
  readonly deviceId: string;
}

export interface RunListener {
  onEntries(deviceId: string, entries: readonly LogEntry[]): void;
  /** Called after the last entry of the run. */
  onEnd(run: RunDetail): void;
}

/** Returns the runs that a launch started, from the rows of its reply. */
export const startedRuns = (rows: readonly DeviceOutcome[]): FollowedRun[] =>
  rows.flatMap(({ device_id: deviceId, run_id: runId }) => (runId === null ? [] : [{ runId, deviceId }]));

/**
 * Passes on the logs of these runs, after entry `from`, until all runs have ended. Prints one notice when the server
 * becomes unreachable. Throws once it is unreachable for longer than log lines are kept, because lines are lost then.
 */
export async function followToEnd(
  api: ApiClient,
  runs: readonly FollowedRun[],
  listener: RunListener,
  from?: string,
): Promise<RunDetail[]> {
  const absence = new Absence();
  const ended: RunDetail[] = [];
  const runIds = runs.map(({ runId }) => runId);
  for await (const update of followRuns(operationsOf(api), { runIds, from })) {
    if (update.type === 'away') absence.begin(update.error);
    else absence.end();
    if (update.type === 'log') listener.onEntries(update.deviceId, update.logs);
    if (update.type === 'end') {
      ended.push(update.run);
      listener.onEnd(update.run);
    }
  }
  return ended;
}
