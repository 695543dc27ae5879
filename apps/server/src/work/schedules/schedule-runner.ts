import { type JobBody, workFields } from '@phalanx/protocol';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { v7 as uuidv7 } from 'uuid';
import { periodically } from '../../kernel/periodically.ts';
import type { Clock } from '../../kernel/clock.ts';
import { minuteMs } from '../../kernel/durations.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import { scheduleKeyPrefix } from '../jobs/create-job.ts';
import type { Jobs } from '../jobs/feature.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import { CronTimes } from './cron-times.ts';
import type { ScheduleChange, ScheduleStore, StoredSchedule, StoredTurn } from './store.ts';
import { graceMs, findDue } from './due-turns.ts';
import { SerialQueue } from '../../kernel/serial-queue.ts';

interface Options {
  store: ScheduleStore;
  jobs: Jobs;
  clock: Clock;
  faults: FaultMonitor;
  /** Interval of the look that finds a clock that jumps, and a missed change by another server. */
  lookEveryMs: number;
}

const Work = Type.Object(workFields);
export type Work = Static<typeof Work>;
const validator = Compile(Work);
export const readWork = (json: string): Work => validator.Parse(JSON.parse(json));

/** Error codes that keep every further turn from making a job. They pause the schedule. */
const finalCodes: ReadonlySet<string> = new Set(['project_not_found', 'forbidden']);

const isoOf = (time: number): string => new Date(time).toISOString();

/** Makes the jobs of schedules when their times come. Each server looks; a turn is one job, whoever makes it. */
export class ScheduleRunner {
  readonly #options: Options;
  readonly #endLooking: () => Promise<void>;
  readonly #looks = new SerialQueue();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
    this.#endLooking = periodically(options.faults, options.lookEveryMs, () => this.look());
  }

  /** Does what is due, and sets the timer for what comes next. */
  look(): Promise<void> {
    return this.#looks.run(() => this.#look());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#endLooking();
    await this.#looks.whenIdle();
  }

  async #look(): Promise<void> {
    const { store, clock, faults } = this.#options;
    const slice = new TimeSlice();
    for (const schedule of await store.listDue(clock.now())) {
      if (slice.isOver) await slice.next();
      if (this.#isClosed) return;
      await this.#turn(schedule).catch((error: unknown) =>
        faults.report(error, `a turn of schedule ${schedule.id} failed`),
      );
    }
    await this.#setTimer();
  }

  async #setTimer(): Promise<void> {
    const { store, clock, faults, lookEveryMs } = this.#options;
    const dueAt = await store.findNextDue();
    clearTimeout(this.#timer);
    // Later ones are found by the periodic look.
    if (dueAt === undefined || dueAt - clock.now() > lookEveryMs || this.#isClosed) return;
    const look = (): void =>
      void this.look().catch((error) => faults.report(error, 'schedules could not be read'));
    this.#timer = setTimeout(look, Math.max(1, dueAt - clock.now())).unref();
  }

  async #turn(schedule: StoredSchedule): Promise<void> {
    const { store, clock } = this.#options;
    const now = clock.now();
    const turns: StoredTurn[] = [];
    const note = (planned_at: number, job_id: string | null, reason: string): void =>
      void turns.push({ id: uuidv7(), schedule_id: schedule.id, planned_at, at: now, job_id, reason });
    const changes: ScheduleChange = {};
    if (schedule.queued_at !== null && !(await this.#options.jobs.hasOpen(schedule.id))) {
      Object.assign(changes, { queued_at: null }, await this.#fire(schedule, schedule.queued_at, note));
    }
    const { planned_at: planned, due_at: due } = schedule;
    if (planned !== null && due !== null && due <= now && schedule.paused === 0) {
      const times = new CronTimes(schedule.cron, schedule.time_zone);
      // A turn is late by its jitter, which is no fault.
      const { fire, missed, next } = await findDue(times, planned, schedule.missed, now - (due - planned));
      if (missed !== undefined) note(missed.first, null, missedReason(missed.count));
      if (fire !== undefined) Object.assign(changes, await this.#begin(schedule, fire, note));
      Object.assign(changes, nextTurn(next, schedule.jitter_seconds));
    }
    if (Object.keys(changes).length > 0) await store.finish(schedule, changes, turns);
  }

  /** Makes the job of a turn, unless the job before has not ended: then the turn is queued or skipped. */
  async #begin(schedule: StoredSchedule, planned: number, note: Note): Promise<ScheduleChange> {
    const { overlap } = schedule;
    if (overlap === 'allow' || !(await this.#options.jobs.hasOpen(schedule.id)))
      return this.#fire(schedule, planned, note);
    if (overlap === 'queue' && schedule.queued_at === null) return { queued_at: planned };
    note(planned, null, 'The job before has not ended.');
    return {};
  }

  async #fire(schedule: StoredSchedule, planned: number, note: Note): Promise<ScheduleChange> {
    const { jobs } = this.#options;
    const body: JobBody = {
      automation_id: schedule.project_id,
      ...readWork(schedule.work),
      key: `${scheduleKeyPrefix}${schedule.id} ${isoOf(planned)}`,
    };
    try {
      const principal = await jobs.principalOf(schedule);
      const job = await jobs.make(body, { principal, auditEvent: null, scheduleId: schedule.id });
      note(planned, job.id, '');
      return {};
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      note(planned, null, error.message);
      return finalCodes.has(error.code) ? { paused: 1, problem: error.message } : {};
    }
  }
}

type Note = (plannedAt: number, jobId: string | null, reason: string) => void;

const missedReason = (count: number): string => {
  const minutes = graceMs / minuteMs;
  return count === 1
    ? `Its time passed more than ${minutes} minutes ago: the service stood still.`
    : `${count} turns from this one on were missed: the service stood still.`;
};

/** The next turn begins later by a part of the jitter. */
export const nextTurn = (
  planned: number | undefined,
  jitterSeconds: number,
): Pick<StoredSchedule, 'planned_at' | 'due_at'> =>
  planned === undefined
    ? { planned_at: null, due_at: null }
    : { planned_at: planned, due_at: planned + Math.floor(Math.random() * jitterSeconds * 1000) };
