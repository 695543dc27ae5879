import type { LogEntry, RunDetail } from '@phalanx/protocol';

import type { Operations } from './operations.ts';
import type { RunUpdate } from './run-update.ts';

/** Operations that following needs. */
export type RunReader = Pick<Operations, 'events' | 'getRun' | 'runLogs'>;

/** How often a run is looked at again whose changes nobody sends. */
const lookMs = 300;
/**
 * Silence after which the log of an ended run counts as complete, when its host could not deliver the rest:
 * nobody knows whether that comes.
 */
const quietMs = 1000;
/** The host itself has to connect again before it can send them. */
const quietAfterBreakMs = 10_000;

export interface Look {
  /** Whether events bring what changes next. */
  readonly hasEvents: boolean;
  /** Time at which the last connection broke, on the clock of `performance.now`. */
  readonly brokeAt: number;
  readonly signal: AbortSignal;
}

/** A run with the place up to which its log was handed out. */
export class FollowedRun {
  readonly runId: string;
  /** The run as it was last read. */
  run: RunDetail | undefined;
  /** Time of the next look, on the clock of `performance.now`; `Infinity`: events bring what changes. */
  dueAt = 0;
  /** Whether everything was handed out. */
  isOver = false;
  readonly #api: RunReader;
  #from: string | undefined;
  #silentSince: number | undefined;

  constructor(api: RunReader, runId: string, from: string | undefined) {
    this.#api = api;
    this.runId = runId;
    this.#from = from;
  }

  /** Reads its state and the next page of its log. */
  async look({ hasEvents, brokeAt, signal }: Look): Promise<RunUpdate[]> {
    const params = { id: this.runId };
    // The state first: when the log is complete then, so is what is read next.
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

  /** Takes entries of which some may be new, once the run was read. */
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
