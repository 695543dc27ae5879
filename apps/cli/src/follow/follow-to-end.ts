import { followRuns } from '@phalanx/client/follow-runs';
import type { DeviceOutcome, LogEntry, RunDetail } from '@phalanx/protocol';

import type { ApiClient } from '../api-client.ts';
import { Absence } from './absence.ts';

export interface FollowedRun {
  readonly runId: string;
  readonly deviceId: string;
}

export interface RunListener {
  onEntries(deviceId: string, entries: readonly LogEntry[]): void;
  /** After the last entry of the run. */
  onEnd(run: RunDetail): void;
}

/** The runs that a launch has started, by the rows of its reply. */
export const startedRuns = (rows: readonly DeviceOutcome[]): FollowedRun[] =>
  rows.flatMap(({ device_id: deviceId, run_id: runId }) => (runId === null ? [] : [{ runId, deviceId }]));

/**
 * Hands out the logs of these runs as they come, those after entry `from`, until all have ended. While the server is away
 * it says so once, and gives up when the server was away for as long as log lines are kept: then some are lost anyway.
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
  for await (const update of api.explained(followRuns(api.operations, { runIds, from }))) {
    if (update.type === 'away') absence.begin(api.explain(update.error));
    else absence.end();
    if (update.type === 'log') listener.onEntries(update.deviceId, update.logs);
    if (update.type === 'end') {
      ended.push(update.run);
      listener.onEnd(update.run);
    }
  }
  return ended;
}
