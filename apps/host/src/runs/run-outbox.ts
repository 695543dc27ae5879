import { isEnded, type RunReport } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { ServerConnection } from '../connection/server-connection.ts';
import type { ServiceClock } from '../connection/service-clock.ts';
import type { LogSpool } from '../logs/log-spool.ts';
import { inPages } from '../connection/pages.ts';
import type { RunFileSender } from './files/run-file-sender.ts';
import { failed, type RunEnd, RunRecord, toRunReport } from './run-record.ts';
import type { HostStore } from '../store/host-store.ts';
import type { JsonTable } from '../store/json-table.ts';
import type { HostTimings } from '../time/host-timings.ts';
import { onceATurn } from '../time/once-a-turn.ts';
import type { Execution } from './execute-run.ts';

interface RunOutboxOptions {
  store: HostStore;
  spool: LogSpool;
  files: Pick<RunFileSender, 'whenOffered'>;
  connection: ServerConnection;
  clock: ServiceClock;
  timings: Pick<HostTimings, 'endReportMs'>;
  log: Logger;
}

/** Holds every run from its launch until the server has stored its end and its log, and reports it to the server. */
export class RunOutbox {
  readonly runs = new HeldRuns();
  readonly #options: RunOutboxOptions;
  readonly #journal: JsonTable<typeof RunRecord>;
  readonly #reporter: RunReporter;
  readonly #closed = new AbortController();
  readonly #concluding = new Set<Promise<void>>();

  constructor(options: RunOutboxOptions) {
    this.#options = options;
    this.#journal = options.store.table('run', RunRecord);
    this.#reporter = new RunReporter(options.connection, (runId) => this.runs.reportOf(runId));
  }

  /** Recovers the runs of an earlier process of the host. Runs that had not ended have failed. */
  async recover(): Promise<void> {
    for await (const [runId, record] of this.#journal.entries())
      this.runs.add(holdRun(record ?? unreadable(runId)));
    await this.#options.spool.recover((runId) => this.runs.has(runId));
    for (const run of this.runs.list()) this.#track(this.#concludeRecovered(run));
  }

  /** Returns reports of all runs for `hello`. */
  reports(): RunReport[] {
    this.#reporter.clear();
    return this.runs.list().map(reportOf);
  }

  /** Schedules a report on the run's current state. */
  report(runId: string): void {
    this.#reporter.mark(runId);
  }

  /** Records durably that the host has the run, which may begin from now on. */
  async journalStart({ record }: HeldRun): Promise<void> {
    await this.#journal.put(record.run_id, record);
  }

  /** Resolves when the server has stored that the run begins. Never resolves for a run that the server has canceled. */
  async permission(run: HeldRun): Promise<void> {
    run.isLoaded = true;
    this.report(run.record.run_id);
    const startedAt = await run.permission.promise;
    if (isEnded(run.record.status)) return;
    run.record = { ...run.record, status: 'running', started_at: startedAt };
    // After a restart of the host, the end of the run still contains its start time.
    await this.#write(run.record, 'The start of a run could not be written to disk');
  }

  /** Releases runs whose start the server has stored. */
  permit(runs: readonly { run_id: string; started_at: number }[]): void {
    for (const { run_id, started_at } of runs) this.runs.find(run_id)?.permission.resolve(started_at);
  }

  /** Ends the run: delivers its log and files first, then its end, and then forgets the run. */
  end(run: HeldRun, end: RunEnd): void {
    this.#track(this.#conclude(run, end));
  }

  /** Records that the server has stored the end of these runs. */
  endsStored(runIds: readonly string[]): void {
    for (const runId of runIds) {
      const run = this.runs.find(runId);
      if (run !== undefined && isEnded(run.record.status)) run.endStored.resolve();
    }
  }

  /** Resolves when everything has been reported to the server. */
  async whenEmpty(): Promise<void> {
    while (this.#concluding.size > 0) await Promise.allSettled(this.#concluding);
  }

  close(): void {
    this.#closed.abort();
  }

  #track(work: Promise<void>): void {
    this.#concluding.add(work);
    const forget = (): void => void this.#concluding.delete(work);
    work.then(forget, (error: unknown) => {
      forget();
      this.#options.log.error({ err: error }, 'A run could not be concluded');
    });
  }

  async #concludeRecovered(run: HeldRun): Promise<void> {
    if (isEnded(run.record.status)) return this.#deliver(run);
    // The service's time is unknown without a connection.
    await this.#options.connection.whenOnlineFor(0, this.#closed.signal);
    const message =
      'The host program was restarted while this run was running, which ended it. Start it again.';
    return this.#conclude(run, failed('host_restarted', message));
  }

  async #conclude(run: HeldRun, end: RunEnd): Promise<void> {
    const { clock, spool } = this.#options;
    run.record = { ...run.record, ...end, ended_at: clock.now() };
    spool.open(run.record.run_id).finish();
    await this.#write(run.record, 'The end of a run could not be written to disk');
    await this.#deliver(run);
  }

  /** Writes the record to the journal. On a full disk, the run continues without its entry. */
  async #write(record: RunRecord, problem: string): Promise<void> {
    await this.#journal.put(record.run_id, record).catch((cause: unknown) => {
      this.#options.log.error({ runId: record.run_id, err: cause }, problem);
    });
  }

  async #deliver(run: HeldRun): Promise<void> {
    const { run_id } = run.record;
    let isLogStored = false;
    const logStored = this.#options.spool
      .open(run_id)
      .whenStored()
      .then(() => (isLogStored = true));
    const offered = this.#options.files.whenOffered(run_id);
    await this.#whenGone(Promise.all([logStored, offered]));
    run.isLogLeft = !isLogStored;
    run.mayTellEnd = true;
    this.report(run_id);
    await run.endStored.promise;
    await logStored;
    if (run.isLogLeft) await this.#tellLogStored(run);
    await this.#forget(run);
  }

  /** Reports again once the log is stored, because the end was reported without the whole log. */
  async #tellLogStored(run: HeldRun): Promise<void> {
    run.isLogLeft = false;
    run.endStored = Promise.withResolvers();
    this.report(run.record.run_id);
    await run.endStored.promise;
  }

  /**
   * Limits the delay of the end: a connected server that does not store log and files must not hide the end forever.
   */
  async #whenGone(stored: Promise<unknown>): Promise<void> {
    const waiting = new AbortController();
    const signal = AbortSignal.any([waiting.signal, this.#closed.signal]);
    const { connection, timings } = this.#options;
    await Promise.race([stored, connection.whenOnlineFor(timings.endReportMs, signal)]);
    waiting.abort();
  }

  async #forget(run: HeldRun): Promise<void> {
    const { run_id } = run.record;
    this.runs.forget(run);
    await this.#options.spool.remove(run_id);
    await this.#journal.remove(run_id);
  }
}

function unreadable(runId: string): RunRecord {
  const record = { run_id: runId, automation_id: '', serial: '', error: null };
  return { ...record, status: 'running', started_at: null, ended_at: null };
}

/** Reports changed runs, batched per turn of the event loop. */
class RunReporter {
  readonly #connection: ServerConnection;
  readonly #reportOf: (runId: string) => RunReport | undefined;
  readonly #changed = new Set<string>();
  readonly #schedule = onceATurn(() => this.#report());

  constructor(connection: ServerConnection, findReport: (runId: string) => RunReport | undefined) {
    this.#connection = connection;
    this.#reportOf = findReport;
    connection.onOnline(() => this.#schedule());
  }

  mark(runId: string): void {
    this.#changed.add(runId);
    this.#schedule();
  }

  /** Clears the pending reports, because a `hello` contains all of them. */
  clear(): void {
    this.#changed.clear();
  }

  #report(): void {
    if (!this.#connection.online || this.#changed.size === 0) return;
    const reports = [...this.#changed].flatMap((runId) => this.#reportOf(runId) ?? []);
    this.#changed.clear();
    for (const runs of inPages(reports)) this.#connection.send({ type: 'runs', runs });
  }
}

/** Run that the host must remember until the server has stored its end and log. */
export interface HeldRun {
  record: RunRecord;
  /** Whether the end may be reported, after the run's log and files. */
  mayTellEnd: boolean;
  /** Whether the end is reported before the server has stored the whole log. */
  isLogLeft: boolean;
  /** Resolves when the server has stored the end. */
  endStored: PromiseWithResolvers<void>;
  /** Execution of the run. Undefined for runs of an earlier process and for runs that were never executed. */
  execution: Execution | undefined;
  isStopAsked: boolean;
  /** Whether the code of the run is loaded in the sandbox. */
  isLoaded: boolean;
  /** Resolves with the start time when the server has stored that the run begins. */
  permission: PromiseWithResolvers<number>;
}

export function holdRun(record: RunRecord): HeldRun {
  const endStored = Promise.withResolvers<void>();
  const permission = Promise.withResolvers<number>();
  return {
    record,
    mayTellEnd: false,
    isLogLeft: false,
    endStored,
    execution: undefined,
    isStopAsked: false,
    isLoaded: false,
    permission,
  };
}

/** Returns the report of the run for the server. */
function reportOf({ record, mayTellEnd, isLoaded, isLogLeft }: HeldRun): RunReport {
  const report = toRunReport(record, mayTellEnd);
  if (isLogLeft) return { ...report, log_left: true };
  return isLoaded && record.status === 'starting' ? { ...report, is_loaded: true } : report;
}

/** Maximum number of runs to remember after their end was stored, to recognize a repeated launch or stop. */
const rememberedRuns = 10_000;

/** All runs that the host knows. */
class HeldRuns {
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
