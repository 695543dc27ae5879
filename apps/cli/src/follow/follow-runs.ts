import { setTimeout as sleep } from 'node:timers/promises';
import { isEnded, runRoutes, type LogEntry, type Run } from '@phalanx/protocol';

import type { ApiClient } from '../api-client.ts';
import { drain, drainEnded } from './follow-log.ts';
import { Endurance } from './endurance.ts';
import { inParallel } from './in-parallel.ts';
import type { LogCursor } from './log-cursor.ts';

export interface FollowedRun {
  readonly runId: string;
  readonly cursor: LogCursor;
}

export interface RunListener {
  onEntries(deviceId: string, entries: readonly LogEntry[]): void;
  /** After the last entry of the run. */
  onEnd(run: Run): void;
}

const pauseMs = 300;

/** Hands out the logs of these runs as they come, until all have ended and nothing is left to read. */
export async function followRuns(
  api: ApiClient,
  runs: readonly FollowedRun[],
  listener: RunListener,
): Promise<Run[]> {
  const endurance = new Endurance();
  const ended = new Map<string, Run>();
  const look = async ({ runId, cursor }: FollowedRun): Promise<void> => {
    // The state first: after the end not much can come.
    const { run } = await endurance.call(() => api.call(runRoutes.get, { params: { id: runId } }));
    const onEntries = (entries: readonly LogEntry[]): void =>
      listener.onEntries(cursor.source.deviceId, entries);
    await drain(endurance, cursor, onEntries);
    if (!isEnded(run.status)) return;
    await drainEnded(endurance, cursor, onEntries);
    ended.set(runId, run);
    listener.onEnd(run);
  };
  for (;;) {
    await inParallel(
      runs.filter(({ runId }) => !ended.has(runId)),
      look,
    );
    if (ended.size === runs.length) return [...ended.values()];
    await sleep(pauseMs);
  }
}
