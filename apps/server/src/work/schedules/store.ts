import { change } from '../../storage/db/change-note.ts';
import type { Db, Transaction } from '../../storage/db/database.ts';
import { type OutboxEvent, addToOutbox } from '../../storage/db/webhook-outbox.ts';
import { isListed, type WorkFilter } from '../../storage/db/listed-work.ts';
import { countRows, roomWithin } from '../../storage/db/quota.ts';
import { transact } from '../../storage/db/transactions.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { type Claim, findWork, finishIn } from '../../storage/db/work-queue.ts';
import type { KeptToken } from '../../http/requests/kept-token.ts';
import { type Budget, requireBudget } from '../../storage/db/token-use.ts';
import { enqueueSameTurn, enqueueTurn, makeScheduledJobs, type NextTurn } from './enqueue-turn.ts';

export type StoredSchedule = Row<'schedule'>;
export type StoredTurn = Row<'schedule_turn'>;
export type ScheduleChange = Partial<Omit<StoredSchedule, 'id' | 'user_id' | 'project_id' | 'created_at'>>;

/** Maximum number of ended turns that are kept per schedule, newest first. */
const turnsKept = 1000;

/** Outbox event of a turn that made no job. */
const skipOf = (
  { id, user_id: userId, project_id: automationId, name }: StoredSchedule,
  { at, planned_at, reason }: StoredTurn,
): OutboxEvent<'schedule.skipped'> => ({
  at,
  data: { schedule_id: id, schedule_name: name, automation_id: automationId, planned_at, reason },
  audience: { kind: 'schedule', userId, automationId },
});

async function hasRoom(transaction: Transaction, userId: string, max: number): Promise<boolean> {
  const own = transaction.selectFrom('schedule').where('user_id', '=', userId);
  const quota = { kind: 'schedules', owner: userId, max };
  return (await roomWithin(transaction, quota, () => countRows(own))) > 0;
}

async function forgetOldTurns(transaction: Transaction, scheduleId: string): Promise<void> {
  const kept = transaction
    .selectFrom('schedule_turn')
    .select('id')
    .where('schedule_id', '=', scheduleId)
    .orderBy('id', 'desc')
    .offset(turnsKept)
    .limit(1);
  const oldest = await kept.executeTakeFirst();
  if (oldest === undefined) return;
  await transaction
    .deleteFrom('schedule_turn')
    .where('schedule_id', '=', scheduleId)
    .where('id', '<=', oldest.id)
    .execute();
}

/** Change of a schedule by a user. */
export interface ScheduleUpdate<Changes = ScheduleChange> {
  readonly changes: Changes;
  /** Next turn; undefined when there is none, `same` when the times do not change. */
  readonly next: NextTurn | undefined | 'same';
  readonly now: number;
}

async function update(
  transaction: Transaction,
  id: string,
  { changes, next, now }: ScheduleUpdate<ScheduleChange & { user_id?: string }>,
): Promise<boolean> {
  const query = transaction.updateTable('schedule').set(changes).where('id', '=', id);
  const row = await query.returningAll().executeTakeFirst();
  if (row === undefined) return false;
  if (next === 'same') await enqueueSameTurn(transaction, row);
  else await enqueueTurn(transaction, row, next, now);
  return true;
}

/** End of a turn, and the next turn. */
export interface TurnEnd {
  readonly schedule: StoredSchedule;
  readonly claim: Claim;
  readonly changes: ScheduleChange;
  readonly turns: readonly StoredTurn[];
  readonly next: NextTurn | undefined;
  /** Time at which a queued turn checks whether the previous job has ended. */
  readonly lookAt: number;
}

/**
 * Stores the end of a turn. Stores nothing and returns false when the schedule was changed in the meantime, or another
 * server has claimed the turn.
 */
export async function endTurn(transaction: Transaction, end: TurnEnd): Promise<boolean> {
  const { schedule, claim, changes, turns, next, lookAt } = end;
  const { id } = schedule;
  // Locks the schedule before its work, in the same order as a change of the schedule.
  await transaction.selectFrom('schedule').select('id').where('id', '=', id).forUpdate().execute();
  if (!(await finishIn(transaction, claim))) return false;
  // A change of the schedule has enqueued it again.
  if ((await findWork(transaction, makeScheduledJobs, id)) !== undefined) return false;
  if (Object.keys(changes).length > 0)
    await transaction.updateTable('schedule').set(changes).where('id', '=', id).execute();
  await enqueueTurn(transaction, { ...schedule, ...changes }, next, lookAt);
  if (turns.length === 0) return true;
  await transaction.insertInto('schedule_turn').values(turns).execute();
  const skips = turns.filter(({ job_id }) => job_id === null);
  await addToOutbox(
    transaction,
    'schedule.skipped',
    skips.map((turn) => skipOf(schedule, turn)),
  );
  await forgetOldTurns(transaction, id);
  return true;
}

export type ScheduleStore = ReturnType<typeof createScheduleStore>;

/** Creates the store of schedules and their turns. */
export function createScheduleStore(db: Db) {
  return {
    /** Stores a schedule. Returns false when the user has reached the maximum. */
    insert: (schedule: StoredSchedule, next: NextTurn | undefined, max: number): Promise<boolean> =>
      change(db, async (transaction) => {
        if (!(await hasRoom(transaction, schedule.user_id, max))) return false;
        await transaction.insertInto('schedule').values(schedule).execute();
        await enqueueTurn(transaction, schedule, next, schedule.created_at);
        return true;
      }),

    find: (id: string): Promise<StoredSchedule | undefined> =>
      db.selectFrom('schedule').selectAll().where('id', '=', id).executeTakeFirst(),

    /** Lists schedules, newest first. */
    list: ({ limit, ...filter }: WorkFilter & { limit: number }): Promise<StoredSchedule[]> =>
      db
        .selectFrom('schedule')
        .selectAll()
        .where(isListed(db, filter))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),

    update: (id: string, given: ScheduleUpdate): Promise<boolean> =>
      change(db, (transaction) => update(transaction, id, given)),

    /**
     * Changes a schedule and the user that it runs as. Returns false when that user has reached the maximum. Throws
     * `budget_spent`.
     */
    take: (
      { id, user_id: before }: StoredSchedule,
      given: ScheduleUpdate<ScheduleChange & KeptToken & Pick<StoredSchedule, 'user_id'>>,
      { budget, max }: { budget: Budget | null; max: number },
    ): Promise<boolean> =>
      change(db, async (transaction) => {
        const { changes, now } = given;
        const { user_id: userId } = changes;
        if (budget !== null) await requireBudget(transaction, budget, { runs: 1, now });
        if (userId !== before && !(await hasRoom(transaction, userId, max))) return false;
        await update(transaction, id, given);
        return true;
      }),

    delete: (id: string): Promise<boolean> =>
      change(db, async (transaction) => {
        const query = transaction.deleteFrom('schedule').where('id', '=', id);
        return (await query.executeTakeFirst()).numDeletedRows > 0n;
      }),

    async countByState(): Promise<ReadonlyMap<string, number>> {
      const query = db
        .selectFrom('schedule')
        .select(['paused', (eb) => eb.fn.countAll<number>().as('count')]);
      const counts = new Map((await query.groupBy('paused').execute()).map((row) => [row.paused, row.count]));
      return new Map([
        ['active', counts.get(0) ?? 0],
        ['paused', counts.get(1) ?? 0],
      ]);
    },

    /** Ends a turn without a new job. */
    endTurn: (end: TurnEnd): Promise<boolean> => transact(db, (transaction) => endTurn(transaction, end)),

    /** Adds a turn for a job that was made outside of the schedule's times. */
    addTurn: (turn: StoredTurn): Promise<void> =>
      change(db, async (transaction) => {
        const { schedule_id: id } = turn;
        const schedule = transaction.selectFrom('schedule').select('id').where('id', '=', id).forUpdate();
        if ((await schedule.executeTakeFirst()) === undefined) return;
        await transaction.insertInto('schedule_turn').values(turn).execute();
        await forgetOldTurns(transaction, id);
      }),

    listTurns: (scheduleId: string, cursor: string | undefined, limit: number): Promise<StoredTurn[]> => {
      let query = db.selectFrom('schedule_turn').selectAll().where('schedule_id', '=', scheduleId);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      return query.orderBy('id', 'desc').limit(limit).execute();
    },
  };
}
