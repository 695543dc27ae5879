import type { LogEntry, Run, RunDetail } from '@phalanx/protocol';

import { followRuns } from './follow-runs.ts';
import type { Operations } from './operations.ts';
import { pause } from '@phalanx/timing/pause';
import { untilAnswered } from './retry.ts';

export interface FollowOptions {
  readonly signal?: AbortSignal;
  /** ID of the entry after which the log begins. */
  readonly from?: string;
}

const pauseMs = 300;

/** Handle of one execution on one device. */
export class RunHandle {
  readonly runId: string;
  readonly deviceId: string;
  readonly #api: Operations;

  constructor(api: Operations, { run_id: runId, device_id: deviceId }: Pick<Run, 'run_id' | 'device_id'>) {
    this.#api = api;
    this.runId = runId;
    this.deviceId = deviceId;
  }

  async get(signal?: AbortSignal): Promise<RunDetail> {
    return (await this.#api.getRun({ params: { id: this.runId } }, { signal })).run;
  }

  /** Resolves with the result when the run has ended. Restarts of the service only delay it. */
  async wait({ signal }: Pick<FollowOptions, 'signal'> = {}): Promise<RunDetail> {
    for (;;) {
      const run = await untilAnswered(() => this.get(signal), signal);
      if (run.ended_at !== null) return run;
      await pause(pauseMs, signal);
    }
  }

  async stop(): Promise<void> {
    await this.#api.stopRun({ params: { id: this.runId } });
  }

  /**
   * Yields each entry of the run's log once, in order, until the run has ended and its log is complete. The log of a
   * run that is lost, or that its host has not delivered completely, ends after one second without new entries.
   */
  async *logs({ signal, from }: FollowOptions = {}): AsyncGenerator<LogEntry, void, undefined> {
    for await (const update of followRuns(this.#api, { runIds: [this.runId], from, signal }))
      if (update.type === 'log') yield* update.logs;
  }
}
