import type { LogEntry, Run, RunDetail } from '@phalanx/protocol';

import { isPassing } from './transport.ts';
import { pause } from './pause.ts';
import type { Operations } from './operations.ts';

export interface FollowOptions {
  readonly signal?: AbortSignal;
  /** Entry after which the log begins. */
  readonly from?: string;
}

const pauseMs = 300;
const retryMs = 500;
/**
 * Silence after which the log of an ended run counts as complete, when its host could not deliver the rest:
 * nobody knows whether that comes.
 */
const quietMs = 1000;
/** The host itself has to connect again before it can send them. */
const quietAfterBreakMs = 10_000;

/** One execution on one device. */
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

  /** Resolves when the run has ended, with what it came to; restarts of the service only delay it. */
  async wait({ signal }: Pick<FollowOptions, 'signal'> = {}): Promise<RunDetail> {
    for (;;) {
      const run = await enduring(() => this.get(signal), signal);
      if (run.ended_at !== null) return run;
      await pause(pauseMs, signal);
    }
  }

  async stop(): Promise<void> {
    await this.#api.stopRun({ params: { id: this.runId } });
  }

  /**
   * Every entry of its log once, in order, until the run has ended and nothing more comes. The log of a run that is lost,
   * or that its host has not delivered whole, ends when nothing has come for a second.
   */
  async *logs({ signal, from }: FollowOptions = {}): AsyncGenerator<LogEntry, void, undefined> {
    let cursor = from;
    let brokeAt = 0;
    const noteBreak = (): void => {
      brokeAt = Date.now();
    };
    const readPage = async (): Promise<LogEntry[]> => {
      const query = cursor === undefined ? {} : { from: cursor };
      const ask = this.#api.runLogs.bind(undefined, { params: { id: this.runId }, query }, { signal });
      return (await enduring(ask, signal, noteBreak)).logs;
    };
    for (let silentSince: number | undefined; ;) {
      // The state first: when the log is complete then, so is what is read next.
      const { ended_at: endedAt, log_complete: isComplete } = await enduring(
        () => this.get(signal),
        signal,
        noteBreak,
      );
      const entries = await readPage();
      for (const entry of entries) {
        // Noted before it is handed out: who stops reading here goes on after it.
        cursor = entry.id;
        yield entry;
      }
      if (entries.length > 0) {
        silentSince = undefined;
        continue;
      }
      if (isComplete) return;
      if (endedAt !== null) {
        silentSince ??= Date.now();
        const enough = brokeAt > silentSince - quietAfterBreakMs ? quietAfterBreakMs : quietMs;
        if (Date.now() - silentSince >= enough) return;
      }
      await pause(pauseMs, signal);
    }
  }
}

/** Asks again until the service is there. */
export async function enduring<Result>(
  ask: () => Promise<Result>,
  signal?: AbortSignal,
  onBreak: () => void = () => undefined,
): Promise<Result> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal?.aborted === true || !isPassing(error)) throw error;
      onBreak();
      await pause(retryMs, signal);
    }
  }
}
