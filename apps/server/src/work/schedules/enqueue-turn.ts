import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Transaction } from '../../storage/db/database.ts';
import { cancelWork, enqueue, findWork, type WorkItem } from '../../storage/db/work-queue.ts';
import type { Row } from '../../storage/db/tables/tables.ts';

/** Work kind that makes scheduled jobs. A schedule has one item, which is due at its next turn. */
export const makeScheduledJobs = 'make scheduled jobs';

/** Next turn of a schedule: the time of its cron expression, and the time when it begins. */
const Turn = Type.Object({ planned_at: Type.Integer(), due_at: Type.Integer() });
export type NextTurn = Static<typeof Turn>;
const payload = Compile(Type.Union([Turn, Type.Null()]));

/** Reads the next turn of a schedule. Returns undefined when it has no further times and only a queued turn waits. */
export const readTurn = (item: Pick<WorkItem, 'payload'>): NextTurn | undefined =>
  payload.Parse(JSON.parse(item.payload ?? 'null')) ?? undefined;

/** Returns the next turn, which begins after a random part of the jitter. */
export const nextTurn = (planned: number | undefined, jitterSeconds: number): NextTurn | undefined =>
  planned === undefined
    ? undefined
    : { planned_at: planned, due_at: planned + Math.floor(Math.random() * jitterSeconds * 1000) };

type Waiting = Pick<Row<'schedule'>, 'id' | 'user_id' | 'paused' | 'queued_at'>;

/**
 * Enqueues the next work of a schedule, or cancels it when there is none. `lookAt` is when a queued turn checks whether
 * the previous job has ended.
 */
export async function enqueueTurn(
  transaction: Transaction,
  { id: key, user_id: lane, paused, queued_at: queuedAt }: Waiting,
  next: NextTurn | undefined,
  lookAt: number,
): Promise<void> {
  const dueAt = Math.min(next?.due_at ?? Infinity, queuedAt === null ? Infinity : lookAt);
  if (paused === 1 || dueAt === Infinity) await cancelWork(transaction, makeScheduledJobs, [key]);
  else {
    const item = { key, lane, dueAt, payload: JSON.stringify(next ?? null) };
    await enqueue(transaction, makeScheduledJobs, [item]);
  }
}

/**
 * Re-enqueues a turn that is being made, so that it is made again with the changed schedule. The next turn stays
 * unchanged.
 */
export async function enqueueSameTurn(
  transaction: Transaction,
  { id: key, user_id: lane }: Waiting,
): Promise<void> {
  const item = await findWork(transaction, makeScheduledJobs, key);
  if (item === undefined) return;
  const { due_at: dueAt, payload: sameTurn } = item;
  await enqueue(transaction, makeScheduledJobs, [{ key, lane, dueAt, payload: sameTurn ?? 'null' }]);
}
