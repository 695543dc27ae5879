import { setTimeout as sleep } from 'node:timers/promises';
import { type DeviceOutcome, isEnded, runRoutes, type LogEntry, type Run } from '@phalanx/protocol';

import type { ApiClient } from '../api-client.ts';
import { Endurance, drain, drainEnded, type LogPages } from './follow-log.ts';
import { inParallel } from '../in-parallel.ts';

/** A place in the log of a run, at first its beginning. */
class RunLog implements LogPages {
  readonly #api: ApiClient;
  readonly #runId: string;
  #from: string | undefined;

  constructor(api: ApiClient, runId: string) {
    this.#api = api;
    this.#runId = runId;
  }

  async readPage(): Promise<LogEntry[]> {
    const query = this.#from === undefined ? {} : { from: this.#from };
    const { logs } = await this.#api.call(runRoutes.logs, { params: { id: this.#runId }, query });
    this.#from = logs.at(-1)?.id ?? this.#from;
    return logs;
  }
}

export interface FollowedRun {
  readonly runId: string;
  readonly deviceId: string;
}

export interface RunListener {
  onEntries(deviceId: string, entries: readonly LogEntry[]): void;
  /** After the last entry of the run. */
  onEnd(run: Run): void;
}

const pauseMs = 300;

/** The runs that a launch has started, by the rows of its reply. */
export const startedRuns = (rows: readonly DeviceOutcome[]): FollowedRun[] =>
  rows.flatMap(({ device_id: deviceId, run_id: runId }) => (runId === null ? [] : [{ runId, deviceId }]));

/** Hands out the logs of these runs as they come, until all have ended and nothing is left to read. */
export async function followRuns(
  api: ApiClient,
  runs: readonly FollowedRun[],
  listener: RunListener,
): Promise<Run[]> {
  const endurance = new Endurance();
  const ended = new Map<string, Run>();
  const logs = runs.map((run) => ({ ...run, log: new RunLog(api, run.runId) }));
  const look = async ({ runId, deviceId, log }: FollowedRun & { log: RunLog }): Promise<void> => {
    // The state first: after the end not much can come.
    const { run } = await endurance.call(() => api.call(runRoutes.get, { params: { id: runId } }));
    const onEntries = (entries: readonly LogEntry[]): void => listener.onEntries(deviceId, entries);
    await drain(endurance, log, onEntries);
    if (!isEnded(run.status)) return;
    await drainEnded(endurance, log, onEntries);
    ended.set(runId, run);
    listener.onEnd(run);
  };
  for (;;) {
    await inParallel(
      logs.filter(({ runId }) => !ended.has(runId)),
      look,
    );
    if (ended.size === runs.length) return [...ended.values()];
    await sleep(pauseMs);
  }
}
