import { sql } from 'kysely';
import { invalidate } from '../../storage/db/writes.ts';
import { change } from '../../storage/db/change-note.ts';
import type { Db, Transaction } from '../../storage/db/database.ts';
import { type OutboxEvent, addToOutbox } from '../../storage/db/webhook-outbox.ts';
import { isListed, type WorkFilter } from '../../storage/db/listed-work.ts';
import { countRows, roomWithin } from '../../storage/db/quota.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import type { KeptToken } from '../../http/requests/kept-token.ts';
import { type Budget, requireBudget } from '../../storage/db/token-use.ts';

export type StoredSchedule = Row<'schedule'>;
export type StoredTurn = Row<'schedule_turn'>;
export type ScheduleChange = Partial<Omit<StoredSchedule, 'id' | 'user_id' | 'project_id' | 'created_at'>>;

/** Turns of a schedule that are over; the newest are kept. */
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

export type ScheduleStore = ReturnType<typeof createScheduleStore>;

/** Schedules and their turns. */
export function createScheduleStore(db: Db) {
  return {
    /** False: the user has as many as they may. */
    insert: (schedule: StoredSchedule, max: number): Promise<boolean> =>
      change(db, async (transaction) => {
        if (!(await hasRoom(transaction, schedule.user_id, max))) return false;
        await transaction.insertInto('schedule').values(schedule).execute();
        await invalidate(transaction, 'schedules');
        return true;
      }),

    find: (id: string): Promise<StoredSchedule | undefined> =>
      db.selectFrom('schedule').selectAll().where('id', '=', id).executeTakeFirst(),

    /** Newest first. */
    list: ({ limit, ...filter }: WorkFilter & { limit: number }): Promise<StoredSchedule[]> =>
      db
        .selectFrom('schedule')
        .selectAll()
        .where(isListed(db, filter))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),

    update: (id: string, changes: ScheduleChange): Promise<boolean> =>
      change(db, async (transaction) => {
        const query = transaction.updateTable('schedule').set(changes).where('id', '=', id);
        const { numUpdatedRows } = await query.executeTakeFirst();
        await invalidate(transaction, 'schedules');
        return numUpdatedRows > 0n;
      }),

    /**
     * Changes a schedule and the user that it runs as. False: that user has as many as they may. Throws `budget_spent`.
     */
    take: (
      { id, user_id: before }: StoredSchedule,
      changes: ScheduleChange & KeptToken & Pick<StoredSchedule, 'user_id'>,
      { budget, max, now }: { budget: Budget | null; max: number; now: number },
    ): Promise<boolean> =>
      change(db, async (transaction) => {
        const { user_id: userId } = changes;
        if (budget !== null) await requireBudget(transaction, budget, { runs: 1, now });
        if (userId !== before && !(await hasRoom(transaction, userId, max))) return false;
        await transaction.updateTable('schedule').set(changes).where('id', '=', id).execute();
        await invalidate(transaction, 'schedules');
        return true;
      }),

    delete: (id: string): Promise<boolean> =>
      change(db, async (transaction) => {
        const query = transaction.deleteFrom('schedule').where('id', '=', id);
        return (await query.executeTakeFirst()).numDeletedRows > 0n;
      }),

    /** Schedules whose turn has come, or whose queued job may be made. */
    listDue: async (now: number): Promise<StoredSchedule[]> => {
      const due = db.selectFrom('schedule').selectAll().where('paused', '=', 0).where('due_at', '<=', now);
      const queued = db.selectFrom('schedule').selectAll().where('queued_at', 'is not', null);
      const rows = [
        ...(await due.orderBy('due_at').orderBy('id').limit(1000).execute()),
        ...(await queued.execute()),
      ];
      return [...new Map(rows.map((row) => [row.id, row])).values()];
    },

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

    /** Undefined: none is to come. */
    async findNextDue(): Promise<number | undefined> {
      const query = db.selectFrom('schedule').select((eb) => eb.fn.min('due_at').as('at'));
      const row = await query.where('paused', '=', 0).where('due_at', 'is not', null).executeTakeFirst();
      return row?.at ?? undefined;
    },

    /** Goes on after these turns, unless the schedule was changed, or another server has done it. */
    finish: (
      before: StoredSchedule,
      changes: ScheduleChange,
      turns: readonly StoredTurn[],
    ): Promise<boolean> =>
      change(db, async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('schedule')
          .set(changes)
          .where('id', '=', before.id)
          .where(sql<boolean>`coalesce(planned_at, 0) = ${before.planned_at ?? 0}`)
          .where(sql<boolean>`coalesce(queued_at, 0) = ${before.queued_at ?? 0}`)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        if (turns.length > 0)
          await transaction
            .insertInto('schedule_turn')
            .values([...turns])
            .execute();
        const skips = turns.filter(({ job_id }) => job_id === null);
        await addToOutbox(
          transaction,
          'schedule.skipped',
          skips.map((turn) => skipOf(before, turn)),
        );
        await forgetOldTurns(transaction, before.id);
        return true;
      }),

    /** Adds a turn for a job that was made beside the times of its schedule. */
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
