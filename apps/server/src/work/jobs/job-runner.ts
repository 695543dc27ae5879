import type { Clock } from '../../kernel/clock.ts';
import { Batcher } from '../../kernel/batcher.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { readSelector, selects } from '../../fleet/devices/labels/phone-labels.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import { periodically } from '../../kernel/periodically.ts';
import type { ActiveRuns } from '../../runs/runs/active-runs.ts';
import type { StoredRun } from '../../runs/runs/stored-run.ts';
import type { JobStore, StoredJob } from './store.ts';
import { TaskNotStartable, type Settled, type TaskStore } from './task-store.ts';
import { DueTasks, othersFirstMs } from './due-tasks.ts';
import { type WaitingJob, WaitingJobs } from './waiting-jobs.ts';
import type { SecretGrants } from '../../code/secrets/secret-grants.ts';
import { hourMs } from '@phalanx/timing/durations';
import { SecretReceivers } from './secret-receivers.ts';
import type { TaskStarter } from './task-starter.ts';

interface Options {
  jobs: JobStore;
  tasks: TaskStore;
  starter: TaskStarter;
  devices: DeviceAccess;
  grants: Pick<SecretGrants, 'listReceivers'>;
  activeRuns: ActiveRuns;
  clock: Clock;
  faults: FaultMonitor;
  /**
   * Interval of the check for missed events, which is the maximum delay of a task after one. A check takes a few index
   * look-ups, however many tasks wait.
   */
  lookEveryMs: number;
}

interface WantedPhones {
  /** Selector of phones; null selects any phone. */
  readonly selector: string | null;
  /** Whether the job names phones by their IDs. Such a job also takes phones that its user has not accepted. */
  readonly isNamed: boolean;
}

/** Maximum time between the timestamp that a transaction writes and its commit. */
const slowestWriteMs = 10_000;
const maxTimerMs = hourMs;
const tooLate = {
  code: 'wait_expired',
  message: 'No phone that fits was free within wait_seconds',
} as const;

/**
 * Assigns tasks to the phones of this server's hosts. It reacts to events: a phone is ready, a run has ended, a job is
 * made, a task is due again.
 */
export class JobRunner {
  readonly #options: Options;
  readonly #waiting = new WaitingJobs();
  readonly #dueTasks: DueTasks;
  readonly #receivers: SecretReceivers;
  /** Phones that are starting a task, with the user of the task. */
  readonly #taking = new Map<string, { userId: string; started: Promise<void> }>();
  readonly #ended: Batcher<StoredRun>;
  readonly #toServe: Batcher<string>;
  readonly #endLooking: () => Promise<void>;
  /** Latest time, known to this server, at which tasks began to wait, epoch ms. */
  #knownUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
    const { faults, tasks, devices, lookEveryMs } = options;
    this.#dueTasks = new DueTasks(tasks);
    this.#receivers = new SecretReceivers(options.grants);
    this.#ended = new Batcher<StoredRun>({
      work: (runs) => this.#settle(runs),
      faults,
      failureMessage: 'the results of runs could not be stored for their tasks',
    });
    this.#toServe = new Batcher<string>({
      work: (deviceIds) => this.#serve(deviceIds),
      faults,
      failureMessage: 'tasks could not be assigned to devices',
    });
    devices.fleet.onChange((deviceIds) => this.offer(deviceIds));
    devices.labels.onChange(() => this.offerAll());
    this.#endLooking = periodically(faults, lookEveryMs, () => this.look());
  }

  /** Reads the waiting jobs and offers them the free phones. */
  async load(): Promise<void> {
    await this.#take(await this.#options.jobs.listWaiting());
  }

  /** Reads the jobs whose tasks began to wait recently and offers them the free phones. */
  async catchUp(): Promise<void> {
    const { jobs } = this.#options;
    await this.#take(await jobs.listWaiting(this.#knownUntil - slowestWriteMs));
  }

  /**
   * Adds a job that this server has made. `#knownUntil` stays, because an older job of another server may not be read
   * yet.
   */
  async noteMade(row: StoredJob): Promise<void> {
    if (row.waiting === 0) return;
    this.#waiting.add([row]);
    this.offerAll();
    if (row.wait_until !== null) await this.#setTimer();
  }

  async #take(rows: readonly StoredJob[]): Promise<void> {
    for (const { woken_at: at } of rows) this.#knownUntil = Math.max(this.#knownUntil, at);
    this.#waiting.add(rows);
    if (rows.length > 0) this.offerAll();
    await this.#setTimer();
  }

  /** Offers phones that may be free to the waiting jobs. */
  offer(deviceIds: readonly string[]): void {
    if (this.#waiting.size > 0 && !this.#isClosed) this.#toServe.add(deviceIds);
  }

  offerAll(): void {
    if (this.#waiting.size > 0) this.offer(this.#options.devices.fleet.listHeldIds());
  }

  /** Settles the tasks of runs that have ended, on whichever server they ran. */
  runsChanged(rows: readonly StoredRun[]): void {
    const ended = rows.filter((row) => row.ended_at !== null);
    if (!this.#isClosed) this.#ended.add(ended);
  }

  /** Retries waiting tasks after others were settled, when their runs ended or before that. */
  async noteSettled(settled: Settled): Promise<Settled> {
    const { userIds, isPlaceFree, isAgain } = settled;
    this.#waiting.retryWaiting(userIds);
    if (isAgain) await this.catchUp();
    if (isPlaceFree) this.offerAll();
    return settled;
  }

  /** Recovers missed events: runs that no server has settled, expired waits and due retries. */
  async look(): Promise<void> {
    const { jobs, tasks, clock } = this.#options;
    const unsettled = await tasks.listUnsettled();
    if (unsettled.length > 0) await tasks.settle(unsettled, clock.now());
    await jobs.expire(clock.now(), tooLate);
    this.#waiting.retryWaiting();
    this.offerAll();
    await this.#setTimer();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#endLooking();
    await this.#ended.end();
    await this.#toServe.end();
    await Promise.all([...this.#taking.values()].map(({ started }) => started));
  }

  async #settle(runs: readonly StoredRun[]): Promise<void> {
    const { tasks, clock } = this.#options;
    const { isPlaceFree } = await this.noteSettled(await tasks.settle(runs, clock.now()));
    if (!isPlaceFree) this.offer(runs.map(({ device_id: id }) => id));
  }

  async #setTimer(): Promise<void> {
    const { jobs, clock, faults } = this.#options;
    const now = clock.now();
    const dueAt = await jobs.findNextDue(now);
    clearTimeout(this.#timer);
    if (dueAt === undefined || this.#isClosed) return;
    const look = (): void =>
      void this.look().catch((error) => faults.report(error, 'jobs could not be read'));
    this.#timer = setTimeout(look, Math.min(maxTimerMs, Math.max(1, dueAt - now))).unref();
  }

  async #serve(deviceIds: readonly string[]): Promise<void> {
    await this.#receivers.refresh();
    await this.#choose(deviceIds);
    if (await this.#receivers.readMissing()) this.offer(deviceIds);
  }

  async #choose(deviceIds: readonly string[]): Promise<void> {
    const runsOf = new Map<string, number>();
    const count = (userId: string): void => void runsOf.set(userId, (runsOf.get(userId) ?? 0) + 1);
    for (const { userId } of this.#options.activeRuns.all()) count(userId);
    for (const { userId } of this.#taking.values()) count(userId);
    const slice = new TimeSlice();
    for (const id of deviceIds) {
      const device = this.#options.devices.fleet.findHeld(id);
      if (device?.state !== 'ready' || this.#taking.has(id)) continue;
      const job = await this.#waiting.choose(id, {
        countRuns: (userId) => runsOf.get(userId) ?? 0,
        fits: (one) => this.#fits(one, device),
        isWithheld: ({ row }) => this.#receivers.areWithheld(row, device),
        slice,
      });
      if (job === undefined || this.#isClosed) continue;
      count(job.row.user_id);
      this.#waiting.noteTurn(job);
      this.#give(job, device);
    }
  }

  #fits({ row, deviceIds, selector }: WaitingJob, device: FleetDevice): boolean {
    const { devices, activeRuns } = this.#options;
    const runs = activeRuns.onDevice(device.id);
    if (row.is_exclusive === 1 ? runs.length > 0 : runs.some((run) => run.automationId === row.project_id))
      return false;
    if (deviceIds?.has(device.id) === false) return false;
    const isNamed = deviceIds !== undefined;
    return (
      this.#isSelected(row.user_id, { selector, isNamed }, device) &&
      devices.leases.findOther(device, row.user_id) === undefined
    );
  }

  #isSelected(userId: string, { selector, isNamed }: WantedPhones, device: FleetDevice): boolean {
    const { labels, shares } = this.#options.devices;
    const role = isNamed ? shares.roleOf(userId, device) : shares.workRoleOf(userId, device);
    if (role !== 'owner' && role !== 'launch') return false;
    try {
      return selector === null || selects(labels, readSelector(labels, userId, selector), device);
    } catch (error) {
      // The pool of the selector was deleted.
      if (error instanceof ApiError) return false;
      throw error;
    }
  }

  #give(job: WaitingJob, device: FleetDevice): void {
    const started = this.#start(job, device)
      .catch((error: unknown) => this.#options.faults.report(error, 'a task could not be started'))
      .then(() => {
        this.#taking.delete(device.id);
        this.offer([device.id]);
      });
    this.#taking.set(device.id, { userId: job.row.user_id, started });
  }

  /** Starts a task. Resolves when its run is stored, or when no task can start. */
  async #start(job: WaitingJob, device: FleetDevice): Promise<void> {
    const { clock, starter } = this.#options;
    const { row } = job;
    const task = await this.#dueTasks.take(row.id, clock.now(), device.id);
    if (task === undefined) {
      job.isBlocked = true;
      return this.#recount(job);
    }
    if (task === 'others first') return this.#leaveToOthers(job, device.id);
    let hasBegun = false;
    try {
      await starter.start(row, task, device.id);
      hasBegun = true;
      job.left -= 1;
    } catch (error) {
      await this.#noteProblem(job, error);
    } finally {
      this.#dueTasks.release(row.id, task.id, !hasBegun);
    }
    if (job.left <= 0) await this.#recount(job);
  }

  async #recount(job: WaitingJob): Promise<void> {
    job.left = (await this.#options.jobs.find(job.row.id))?.waiting ?? 0;
    if (job.left === 0) this.#waiting.remove(job.row.id);
  }

  /** Leaves the job to other phones for a moment. After that, the phone on which a task has failed may retry it. */
  #leaveToOthers(job: WaitingJob, deviceId: string): void {
    job.leftToOthers.add(deviceId);
    setTimeout(() => {
      job.leftToOthers.delete(deviceId);
      this.offer([deviceId]);
    }, othersFirstMs).unref();
  }

  async #noteProblem(job: WaitingJob, error: unknown): Promise<void> {
    // Another server has claimed the task. The next task is tried.
    if (error instanceof TaskNotStartable && error.isTaken) return;
    job.isBlocked = true;
    if (error instanceof TaskNotStartable) return;
    if (!(error instanceof ApiError)) throw error;
    const { starter, jobs, clock } = this.#options;
    if (!starter.isFinal(error)) return;
    this.#waiting.remove(job.row.id);
    await jobs.failWaiting(job.row.id, { code: error.code, message: error.message }, clock.now());
  }
}
