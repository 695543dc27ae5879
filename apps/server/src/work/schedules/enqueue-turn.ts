import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Transaction } from '../../storage/db/database.ts';
import { cancelWork, enqueue, findWork, type WorkItem } from '../../storage/db/work-queue.ts';
import type { Row } from '../../storage/db/tables/tables.ts';

/** Kind of the work: a schedule has one item, which is due at its next turn. */
export const makeScheduledJobs = 'make scheduled jobs';

/** The next turn of a schedule: the time that its cron expression has, and the time when it begins. */
const Turn = Type.Object({ planned_at: Type.Integer(), due_at: Type.Integer() });
export type NextTurn = Static<typeof Turn>;
const payload = Compile(Type.Union([Turn, Type.Null()]));

/** Reads the next turn of the schedule; undefined: its times are over, and a queued turn waits. */
export const readTurn = (item: Pick<WorkItem, 'payload'>): NextTurn | undefined =>
  payload.Parse(JSON.parse(item.payload ?? 'null')) ?? undefined;

/** The turn begins later by a part of the jitter. */
export const nextTurn = (planned: number | undefined, jitterSeconds: number): NextTurn | undefined =>
  planned === undefined
    ? undefined
    : { planned_at: planned, due_at: planned + Math.floor(Math.random() * jitterSeconds * 1000) };

type Waiting = Pick<Row<'schedule'>, 'id' | 'user_id' | 'paused' | 'queued_at'>;

/** Enqueues what a schedule has to do next. It looks at `lookAt` whether the job before a queued turn has ended. */
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

/** Has a turn that is being made made again, as the schedule is now. The next turn stays as it is. */
export async function enqueueSameTurn(
  transaction: Transaction,
  { id: key, user_id: lane }: Waiting,
): Promise<void> {
  const item = await findWork(transaction, makeScheduledJobs, key);
  if (item === undefined) return;
  const { due_at: dueAt, payload: sameTurn } = item;
  await enqueue(transaction, makeScheduledJobs, [{ key, lane, dueAt, payload: sameTurn ?? 'null' }]);
}
