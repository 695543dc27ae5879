import { setImmediate as nextTurn } from 'node:timers/promises';
import { isEnded, type RunReport } from '@phalanx/protocol';

import type { Clock } from '../../kernel/clock.ts';
import { EpochOver } from '../../storage/db/epochs.ts';
import type { HostLink } from '../../fleet/hosts/host-link.ts';
import type { AwayHost } from '../../fleet/hosts/host-sessions.ts';
import type { ActiveRunStore } from './active-run-store.ts';
import { activeRunOf, type ActiveRun, type ActiveRuns } from './active-runs.ts';
import type { RunChange, RunChangeStore } from './run-change-store.ts';
import { problemOfResult } from './run-result.ts';
import type { RunStore } from './store.ts';
import type { StoredRun } from './stored-run.ts';

interface Options {
  store: RunStore;
  changes: RunChangeStore;
  activeRuns: ActiveRuns;
  activeRunRows: ActiveRunStore;
  clock: Clock;
  /** Lists the hosts that have been away for at least this long. */
  listAway: (forMs: number) => Promise<AwayHost[]>;
  /** Triggers sending of the stored messages for the host of a connection. */
  flush: (epoch: number) => void;
  /** Time that a host may be away before its runs are marked lost, in ms. */
  lostAfterMs: number;
  /** Receives the changed runs after the change is stored. */
  onChange: (rows: readonly StoredRun[]) => void;
}

/**
 * An overdue run with the last connection of its host, which is away; null when the host is connected but has not
 * acknowledged the run.
 */
interface Overdue {
  run: ActiveRun;
  epoch: number | null;
}

type Verdict = 'store' | 'stop' | 'known' | 'foreign';

/** Number of reported runs per lookup. */
const reportsPerStep = 500;
const lostMessage = 'Its host did not reconnect, so its outcome is unknown';
const notStartedMessage = 'The connection to the host broke before the host had the code';
const forgottenMessage = 'Its host reconnected and does not know the run';

/** Reconciles the reports of hosts with the stored runs, so that every run ends exactly once, with its true outcome. */
export class RunLifecycle {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Processes a host's report of all runs that it holds. Runs that it should hold but does not are sent again or ended.
   */
  async reconcile(link: HostLink, reports: readonly RunReport[]): Promise<void> {
    const reported = new Set(reports.map((report) => report.run_id));
    await this.#takeUp(link);
    await this.report(link, reports);
    // A later connection of the same host has newer information about its runs.
    if (!link.isOpen) return;
    const gone = this.#options.activeRuns
      .ofHost(link)
      .filter((run) => run.epoch !== link.epoch && !reported.has(run.runId));
    const again = await this.#sendAgain(link, gone);
    await this.#end(
      gone
        .filter(({ runId }) => !again.has(runId))
        .map((run) => (run.row.status === 'starting' ? notStarted(run) : lost(run, forgottenMessage))),
      link.epoch,
    );
    await this.#options.activeRunRows.adopt([...reported], link.epoch);
    this.#repeatStops(link);
  }

  /** Sends undelivered runs of an earlier connection on this one. Returns their IDs. */
  async #sendAgain(link: HostLink, gone: readonly ActiveRun[]): Promise<ReadonlySet<string>> {
    const { activeRunRows, activeRuns, flush } = this.#options;
    const unsent = gone.filter(({ row, stopRequested }) => row.status === 'starting' && !stopRequested);
    if (unsent.length === 0) return new Set();
    const again = await activeRunRows.sendAgain(
      unsent.map(({ runId }) => runId),
      link.epoch,
    );
    for (const runId of again) activeRuns.remove(runId);
    if (again.length > 0) flush(link.epoch);
    return new Set(again);
  }

  /** Loads the runs that the host has or should have, except those that are about to be sent on this connection. */
  async #takeUp(link: HostLink): Promise<void> {
    const { activeRunRows, activeRuns } = this.#options;
    for (const row of await activeRunRows.listOfHost(link)) {
      const isToBeSent = row.status === 'starting' && row.epoch === link.epoch;
      if (!isToBeSent && activeRuns.find(row.id) === undefined) activeRuns.add(activeRunOf(row, row.epoch));
    }
  }

  /** Drops the in-memory runs of a closed connection, because the host may connect to another server next. */
  disconnect(link: HostLink): void {
    this.#options.activeRuns.removeOfEpoch(link.epoch);
  }

  /** Ends runs that were stopped before they were sent. */
  async endUnsent(runs: readonly ActiveRun[], epoch: number): Promise<void> {
    await this.#end(runs.map(unsent), epoch);
  }

  /** Stores a host's reports on its runs, and acknowledges the runs that the host may forget. */
  async report(link: HostLink, reports: readonly RunReport[]): Promise<void> {
    for (let first = 0; first < reports.length; first += reportsPerStep) {
      // Yields between batches: SQLite queries never yield to the event loop, and a host may report many old runs.
      if (first > 0) await nextTurn();
      await this.#takeIn(link, reports.slice(first, first + reportsPerStep));
    }
  }

  async #takeIn(link: HostLink, reports: readonly RunReport[]): Promise<void> {
    const { activeRuns, clock } = this.#options;
    const ended = await this.#readEnded(reports);
    const changes = new Map<string, RunChange>();
    const toForget: string[] = [];
    const toStop: string[] = [];
    const loaded: string[] = [];
    const logsStored: string[] = [];
    for (const report of reports) {
      const verdict = this.#judge(link, report, ended.get(report.run_id));
      const isLate = asksToBegin(report) && this.#shouldHaveStopped(report);
      const row = activeRuns.find(report.run_id)?.row ?? ended.get(report.run_id);
      if (verdict === 'store' && !isLate) addChange(changes, changeOf(report, row, clock.now()));
      if (verdict === 'known' && isLogStored(report, ended.get(report.run_id)))
        logsStored.push(report.run_id);
      if (verdict === 'stop' || this.#shouldHaveStopped(report)) toStop.push(report.run_id);
      else if (isEnded(report.status)) toForget.push(report.run_id);
      else if (verdict !== 'foreign' && asksToBegin(report)) loaded.push(report.run_id);
    }
    if (toStop.length > 0) link.send({ type: 'stop', run_ids: toStop });
    await this.#store([...changes.values()], link.epoch);
    if (logsStored.length > 0) await this.#options.store.noteLogsStored(logsStored);
    if (toForget.length > 0) link.send({ type: 'runs_stored', run_ids: toForget });
    if (loaded.length > 0) await this.#letBegin(link, loaded);
  }

  /**
   * Lets loaded runs begin whose rows have the status `running`. The others were called off or have ended, and are
   * stopped.
   */
  async #letBegin(link: HostLink, runIds: readonly string[]): Promise<void> {
    const { activeRuns, store } = this.#options;
    const known = runIds.flatMap((id) => activeRuns.find(id)?.row ?? []).filter(mayBegin);
    const knownIds = new Set(known.map(({ id }) => id));
    const others = runIds.filter((id) => !knownIds.has(id));
    const rows = others.length === 0 ? known : [...known, ...(await store.listByIds(others))];
    const begin = rows
      .filter(mayBegin)
      .map(({ id, started_at }) => ({ run_id: id, started_at: started_at ?? 0 }));
    if (begin.length > 0) link.send({ type: 'begin', runs: begin });
    const begun = new Set(begin.map(({ run_id }) => run_id));
    const toStop = others.filter((id) => !begun.has(id));
    if (toStop.length > 0) link.send({ type: 'stop', run_ids: toStop });
  }

  /** Reads the rows of the reported runs that are not active. */
  async #readEnded(reports: readonly RunReport[]): Promise<Map<string, StoredRun>> {
    const { store, activeRuns } = this.#options;
    const runIds = reports.map((report) => report.run_id).filter((id) => activeRuns.find(id) === undefined);
    const rows = runIds.length === 0 ? [] : await store.listByIds(runIds);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /**
   * Whether a run began although a stop is stored: its caller had the reply that it had not begun, or the stop reached
   * its host too early.
   */
  #shouldHaveStopped({ run_id: runId, status }: RunReport): boolean {
    return !isEnded(status) && this.#options.activeRuns.find(runId)?.stopRequested === true;
  }

  /** Ends the runs whose host has been away for too long, and those that no host acknowledged. */
  async sweep(): Promise<void> {
    for (const [epoch, overdue] of Map.groupBy(await this.#listOverdue(), (one) => one.epoch))
      await this.#endLost(
        overdue.map(({ run }) => run),
        epoch,
      );
  }

  async #listOverdue(): Promise<Overdue[]> {
    const { clock, lostAfterMs, listAway, activeRunRows } = this.#options;
    const limit = clock.now() - lostAfterMs;
    const hosts = await listAway(lostAfterMs);
    const away = new Map(hosts.map((host) => [hostKey(host), host.epoch]));
    const runs = (await activeRunRows.listOverdue(limit)).map((row) => activeRunOf(row, row.epoch));
    const epochOf = (run: ActiveRun): number | null =>
      away.get(hostKey({ userId: run.deviceOwnerId, hostId: run.hostId })) ?? null;
    const isUnanswered = ({ row }: ActiveRun): boolean =>
      row.status === 'starting' && row.created_at <= limit;
    return runs
      .map((run) => ({ run, epoch: epochOf(run) }))
      .filter(({ run, epoch }) => epoch !== null || isUnanswered(run));
  }

  /** Marks runs as lost, unless their host has reconnected meanwhile. */
  async #endLost(runs: readonly ActiveRun[], epoch: number | null): Promise<void> {
    const end = this.#end(
      runs.map((run) => lost(run, lostMessage)),
      epoch,
    );
    await end.catch((error: unknown) => {
      if (!(error instanceof EpochOver)) throw error;
    });
  }

  /**
   * Decides how to handle a report: store it, stop the run, or ignore it because it is already known or about another
   * host's run.
   */
  #judge(link: HostLink, report: RunReport, row: StoredRun | undefined): Verdict {
    const active = this.#options.activeRuns.find(report.run_id);
    if (active !== undefined) {
      if (active.deviceOwnerId !== link.userId || active.hostId !== link.hostId) return 'foreign';
      active.epoch = link.epoch;
      if (asksToBegin(report)) return active.row.status === 'starting' ? 'store' : 'known';
      return active.row.status === report.status || report.status === 'starting' ? 'known' : 'store';
    }
    const isTheirs = row?.device_owner_id === link.userId && row.host_id === link.hostId;
    if (asksToBegin(report) && (row?.status === 'lost' || !isTheirs)) return 'stop';
    // Launched by another server, to which the host was connected until a moment ago.
    if (row?.ended_at === null && isTheirs) return this.#revive(row, link, report);
    if (row?.status === 'lost' && isTheirs && this.#mayGoOn(row, report))
      return this.#revive(row, link, report);
    return isEnded(report.status) ? 'known' : 'stop';
  }

  /** Whether a lost run may continue. It must not run beside a later run of the same project on its device. */
  #mayGoOn(row: StoredRun, { status }: RunReport): boolean {
    if (isEnded(status) || row.launch_id !== null) return true;
    const onDevice = this.#options.activeRuns.onDevice(row.device_id);
    return !onDevice.some((run) => run.automationId === row.automation_id && run.launchId === null);
  }

  /** Reactivates the run and has the report stored: the host is back, and its state is authoritative. */
  #revive(row: StoredRun, link: HostLink, report: RunReport): 'store' {
    if (!isEnded(report.status)) this.#options.activeRuns.add(activeRunOf(row, link.epoch));
    return 'store';
  }

  /** Repeats stops that were requested while the host was away, or whose message was cut off. */
  #repeatStops(link: HostLink): void {
    const runIds = this.#options.activeRuns
      .ofHost(link)
      .filter((run) => run.stopRequested)
      .map((run) => run.runId);
    if (runIds.length > 0) link.send({ type: 'stop', run_ids: runIds });
  }

  async #end(changes: readonly Omit<RunChange, 'endedAt'>[], epoch: number | null): Promise<void> {
    await this.#store(
      changes.map((change) => ({ ...change, endedAt: this.#options.clock.now() })),
      epoch,
    );
  }

  async #store(changes: readonly RunChange[], epoch: number | null): Promise<void> {
    const rows = await this.#options.changes.apply(changes, epoch);
    for (const row of rows) this.#applyToMemory(row);
    if (rows.length > 0) this.#options.onChange(rows);
  }

  #applyToMemory(row: StoredRun): void {
    const { activeRuns } = this.#options;
    const run = activeRuns.find(row.id);
    if (run !== undefined && !isEnded(row.status)) activeRuns.update(run, row);
    else activeRuns.remove(row.id);
    activeRuns.notify(row);
  }
}

/** Adds a change. For several changes of a run in one report, the first end counts, otherwise the last change. */
function addChange(changes: Map<string, RunChange>, change: RunChange): void {
  const earlier = changes.get(change.runId);
  if (earlier === undefined || !isEnded(earlier.status)) changes.set(change.runId, change);
}

const hostKey = ({ userId, hostId }: { userId: string; hostId: string }): string =>
  `${userId} ${hostId.toLowerCase()}`;

/** Returns the start time of a run. A running or completed run has started, even when its host reports no time. */
const startOf = ({ status, started_at: startedAt }: RunReport, nowMs: number): number | null =>
  startedAt ?? (status === 'running' || status === 'completed' ? nowMs : null);

/** Whether the run waits for permission to begin. */
const asksToBegin = ({ status, is_loaded }: RunReport): boolean =>
  status === 'starting' && is_loaded === true;

/** Whether the remaining log of an ended run has arrived. */
const isLogStored = ({ status, log_left: isLeft }: RunReport, row: StoredRun | undefined): boolean =>
  row?.log_left === 1 && isEnded(status) && isLeft !== true;

const mayBegin = ({ status, stop_requested }: StoredRun): boolean =>
  status === 'running' && stop_requested === 0;

/**
 * Clamps the times that a host reports by its own clock: a run begins after its launch, ends after its start, and
 * neither is in the future.
 */
function timesOf(
  report: RunReport,
  row: StoredRun | undefined,
  nowMs: number,
): Pick<RunChange, 'startedAt' | 'endedAt'> {
  const after = (earliest: number, time: number): number => Math.max(earliest, Math.min(time, nowMs));
  const launchedAt = row?.created_at ?? 0;
  const reportedAt = asksToBegin(report) ? nowMs : startOf(report, nowMs);
  const startedAt = reportedAt === null ? null : after(launchedAt, reportedAt);
  if (!isEnded(report.status)) return { startedAt, endedAt: null };
  return { startedAt, endedAt: after(startedAt ?? row?.started_at ?? launchedAt, report.ended_at ?? nowMs) };
}

const changeOf = (report: RunReport, row: StoredRun | undefined, nowMs: number): RunChange => ({
  runId: report.run_id,
  isAsked: asksToBegin(report),
  status: asksToBegin(report) ? 'running' : report.status,
  error: report.error,
  outcome: report.outcome ?? null,
  result: null,
  ...(isEnded(report.status) && report.result !== undefined ? endWith(report, report.result) : {}),
  app: isEnded(report.status) ? report.app : undefined,
  isLogLeft: report.log_left === true,
  ...timesOf(report, row, nowMs),
});

/** Adds the result of a run. Drops a result that could not be read back, which turns a success into a failure. */
function endWith(
  { status, error }: RunReport,
  result: string,
): Pick<RunChange, 'status' | 'error' | 'result'> {
  const problem = problemOfResult(result);
  if (problem === undefined) return { status, error, result };
  const dropped = { code: 'result_dropped', message: `The result of the run ${problem}, so it was dropped` };
  return { status: status === 'completed' ? 'failed' : status, error: error ?? dropped, result: null };
}

/** Fields of a run whose host has reported nothing more. */
const silence = { outcome: null, result: null };

const notStarted = (run: ActiveRun): Omit<RunChange, 'endedAt'> => ({
  runId: run.runId,
  status: 'failed',
  error: { code: 'not_started', message: notStartedMessage },
  ...silence,
  startedAt: null,
});

const unsent = (run: ActiveRun): Omit<RunChange, 'endedAt'> => ({
  runId: run.runId,
  status: 'stopped',
  error: null,
  ...silence,
  startedAt: null,
});

const lost = (run: ActiveRun, message: string): Omit<RunChange, 'endedAt'> => ({
  runId: run.runId,
  status: 'lost',
  error: { code: 'lost', message },
  ...silence,
  isLogLeft: true,
  startedAt: run.row.started_at,
});
