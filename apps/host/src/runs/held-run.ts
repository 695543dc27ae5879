import type { RunReport } from '@phalanx/protocol';

import type { Execution } from './execute-run.ts';
import { type RunRecord, toRunReport } from './run-journal.ts';

/** A run that the server has not told the host to forget. */
export interface HeldRun {
  record: RunRecord;
  /** Whether the end may be told: its log and files have gone first. */
  mayTellEnd: boolean;
  /** Whether the end is told before the server has stored the whole log. */
  isLogLeft: boolean;
  /** Resolved when the server has stored the end. */
  endStored: PromiseWithResolvers<void>;
  /** Undefined for runs of an earlier life of the host and for those that never came to execution. */
  execution: Execution | undefined;
  isStopAsked: boolean;
  /** Whether its code is in the sandbox. */
  isLoaded: boolean;
  /** Resolved with the time of its start when the server has stored that it runs. */
  permission: PromiseWithResolvers<number>;
}

export function holdRun(record: RunRecord): HeldRun {
  const endStored = Promise.withResolvers<void>();
  const permission = Promise.withResolvers<number>();
  return {
    ...{ record, mayTellEnd: false, isLogLeft: false, endStored, execution: undefined, isStopAsked: false },
    ...{ isLoaded: false, permission },
  };
}

/** What the server is told of it. */
export function reportOf({ record, mayTellEnd, isLoaded, isLogLeft }: HeldRun): RunReport {
  const report = toRunReport(record, mayTellEnd);
  if (isLogLeft) return { ...report, log_left: true };
  return isLoaded && record.status === 'starting' ? { ...report, is_loaded: true } : report;
}

/** So many runs are remembered after their end was stored, to recognise a launch or a stop that comes again. */
const rememberedRuns = 10_000;

/** All runs that the host knows of. */
export class HeldRuns {
  readonly #held = new Map<string, HeldRun>();
  readonly #forgotten = new Map<string, RunReport>();

  find(runId: string): HeldRun | undefined {
    return this.#held.get(runId);
  }

  has(runId: string): boolean {
    return this.#held.has(runId) || this.#forgotten.has(runId);
  }

  list(): HeldRun[] {
    return [...this.#held.values()];
  }

  add(run: HeldRun): void {
    this.#held.set(run.record.run_id, run);
  }

  forget(run: HeldRun): void {
    const { run_id } = run.record;
    this.#held.delete(run_id);
    this.#forgotten.set(run_id, toRunReport(run.record, true));
    const [oldest] = this.#forgotten.keys();
    if (this.#forgotten.size > rememberedRuns && oldest !== undefined) this.#forgotten.delete(oldest);
  }

  reportOf(runId: string): RunReport | undefined {
    const run = this.#held.get(runId);
    return run === undefined ? this.#forgotten.get(runId) : reportOf(run);
  }
}
