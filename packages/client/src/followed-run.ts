import type { LogEntry, RunDetail } from '@phalanx/protocol';

import type { Operations } from './operations.ts';
import type { RunUpdate } from './run-update.ts';

/** Operations that following a run needs. */
export type RunReader = Pick<Operations, 'events' | 'getRun' | 'runLogs'>;

/** Polling interval of a run without an event stream, in milliseconds. */
const lookMs = 300;
/**
 * Silence in milliseconds after which the log of an ended run counts as complete, when its host could not deliver the
 * rest: it is unknown whether the rest will arrive.
 */
const quietMs = 1000;
/** Silence after a broken connection, in milliseconds: the host itself has to reconnect before it can send the rest. */
const quietAfterBreakMs = 10_000;

export interface Look {
  /** Whether events deliver the next changes. */
  readonly hasEvents: boolean;
  /** Time at which the last connection broke, on the clock of `performance.now`. */
  readonly brokeAt: number;
  readonly signal: AbortSignal;
}

/** Run, with the position up to which its log was yielded. */
export class FollowedRun {
  readonly runId: string;
  /** State of the run at its last read. */
  run: RunDetail | undefined;
  /** Time of the next read, on the clock of `performance.now`; `Infinity` when events deliver changes. */
  dueAt = 0;
  /** Whether everything was yielded. */
  isOver = false;
  readonly #api: RunReader;
  #from: string | undefined;
  #silentSince: number | undefined;

  constructor(api: RunReader, runId: string, from: string | undefined) {
    this.#api = api;
    this.runId = runId;
    this.#from = from;
  }

  /** Reads the state of the run and the next page of its log. */
  async look({ hasEvents, brokeAt, signal }: Look): Promise<RunUpdate[]> {
    const params = { id: this.runId };
    // Reads the state first: if the log is complete then, the page read next is complete too.
    const { run } = await this.#api.getRun({ params }, { signal });
    this.run = run;
    const query = this.#from === undefined ? {} : { from: this.#from };
    const page = await this.#api.runLogs({ params, query }, { signal });
    const updates = this.take(page.logs, page.truncated);
    this.#from = page.next_cursor ?? this.#from;
    if (page.next_cursor !== null) this.dueAt = 0;
    else if (run.ended_at === null) this.dueAt = hasEvents ? Infinity : performance.now() + lookMs;
    else if (run.log_complete || this.#isQuiet(brokeAt)) updates.push(this.#end(run));
    else this.dueAt = performance.now() + lookMs;
    return updates;
  }

  /** Returns the update of those entries that are new. Call it once the run was read. */
  take(entries: readonly LogEntry[], isTruncated = false): RunUpdate[] {
    const from = this.#from ?? '';
    const logs = entries.filter(({ run_id: runId, id }) => runId === this.runId && id > from);
    if (logs.length === 0) return [];
    this.#from = logs.at(-1)?.id;
    this.#silentSince = undefined;
    return [
      {
        type: 'log',
        runId: this.runId,
        deviceId: this.run?.device_id ?? '',
        logs,
        isTruncated,
      },
    ];
  }

  #end(run: RunDetail): RunUpdate {
    this.isOver = true;
    return { type: 'end', run };
  }

  #isQuiet(brokeAt: number): boolean {
    const now = performance.now();
    this.#silentSince ??= now;
    const enoughMs = brokeAt > this.#silentSince - quietAfterBreakMs ? quietAfterBreakMs : quietMs;
    return now - this.#silentSince >= enoughMs;
  }
}
