import { type JobBody, workFields } from '@phalanx/protocol';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../kernel/clock.ts';
import { minuteMs } from '@phalanx/timing/durations';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Claim, WorkItem } from '../../storage/db/work-queue.ts';
import { scheduleKeyPrefix, TurnGone } from '../jobs/create-job.ts';
import type { Jobs } from '../jobs/feature.ts';
import { CronTimes } from './cron-times.ts';
import { findDue, graceMs } from './due-turns.ts';
import { type NextTurn, nextTurn, readTurn } from './enqueue-turn.ts';
import { endTurn, type ScheduleStore, type StoredSchedule, type StoredTurn, type TurnEnd } from './store.ts';

interface Options {
  store: ScheduleStore;
  jobs: Pick<Jobs, 'make' | 'hasOpen' | 'principalOf'>;
  clock: Clock;
  /** Interval at which a queued turn checks whether the previous job has ended. */
  lookEveryMs: number;
}

const Work = Type.Object(workFields);
export type Work = Static<typeof Work>;
const validator = Compile(Work);
export const readWork = (json: string): Work => validator.Parse(JSON.parse(json));

/** Error codes that prevent every further turn from making a job. They pause the schedule. */
const finalCodes: ReadonlySet<string> = new Set(['project_not_found', 'forbidden']);

const isoOf = (time: number): string => new Date(time).toISOString();

/** Turn that makes its job, with its planned time. */
interface Firing extends TurnEnd {
  readonly planned: number;
}

/** Makes the jobs of due schedules. A job is stored in the transaction that ends its turn. */
export class TurnMaker {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Makes a queued turn when the previous job has ended, or the next turn when it is due. */
  async make(item: WorkItem, claim: Claim): Promise<void> {
    const { store, jobs, clock, lookEveryMs } = this.#options;
    const schedule = await store.find(item.key);
    // Its work was deleted as well.
    if (schedule === undefined) return;
    const now = clock.now();
    const next = readTurn(item);
    const end = { schedule, claim, changes: {}, turns: [], next, lookAt: now + lookEveryMs };
    const { queued_at: queued } = schedule;
    if (queued !== null && !(await jobs.hasOpen(schedule.id)))
      await this.#fire({ ...end, changes: { queued_at: null }, planned: queued });
    else if (next !== undefined && next.due_at <= now) await this.#begin(end, next, now);
    else await store.endTurn(end);
  }

  /**
   * Makes the job of a turn. When the previous job has not ended and overlap is not allowed, queues or skips the turn
   * instead.
   */
  async #begin(end: TurnEnd, { planned_at: planned, due_at: due }: NextTurn, now: number): Promise<void> {
    const { store, jobs } = this.#options;
    const { schedule } = end;
    const times = new CronTimes(schedule.cron, schedule.time_zone);
    // The jitter of a turn does not count as a delay.
    const { fire, missed, next } = await findDue(times, planned, schedule.missed, now - (due - planned));
    const turns =
      missed === undefined ? [] : [this.#skip(schedule, missed.first, missedReason(missed.count))];
    const passed = { ...end, turns, next: nextTurn(next, schedule.jitter_seconds) };
    if (fire === undefined) await store.endTurn(passed);
    else if (schedule.overlap === 'allow' || !(await jobs.hasOpen(schedule.id)))
      await this.#fire({ ...passed, planned: fire });
    else if (schedule.overlap === 'queue' && schedule.queued_at === null)
      await store.endTurn({ ...passed, changes: { queued_at: fire } });
    else {
      const skipped = this.#skip(schedule, fire, 'The previous job has not ended.');
      await store.endTurn({ ...passed, turns: [...turns, skipped] });
    }
  }

  async #fire({ planned, ...end }: Firing): Promise<void> {
    const { store, jobs, clock } = this.#options;
    const { schedule, turns, changes } = end;
    const { id, project_id: projectId } = schedule;
    const body: JobBody = {
      automation_id: projectId,
      ...readWork(schedule.work),
      key: `${scheduleKeyPrefix}${id} ${isoOf(planned)}`,
    };
    const made = { id: uuidv7(), schedule_id: id, planned_at: planned, at: clock.now(), reason: '' };
    try {
      await jobs.make(body, {
        principal: await jobs.principalOf(schedule),
        auditEvent: null,
        scheduleId: id,
        endTurn: (transaction, jobId) =>
          endTurn(transaction, { ...end, turns: [...turns, { ...made, job_id: jobId }] }),
      });
    } catch (error) {
      if (error instanceof TurnGone) return;
      if (!(error instanceof ApiError)) throw error;
      const isFinal = finalCodes.has(error.code);
      await store.endTurn({
        ...end,
        changes: isFinal ? { queued_at: null, paused: 1, problem: error.message } : changes,
        turns: [...turns, this.#skip(schedule, planned, error.message)],
      });
    }
  }

  #skip({ id }: StoredSchedule, planned: number, reason: string): StoredTurn {
    const at = this.#options.clock.now();
    return { id: uuidv7(), schedule_id: id, planned_at: planned, at, job_id: null, reason };
  }
}

const missedReason = (count: number): string => {
  const minutes = graceMs / minuteMs;
  return count === 1
    ? `Its time passed more than ${minutes} minutes ago: the service stood still.`
    : `${count} turns from this one on were missed: the service stood still.`;
};
