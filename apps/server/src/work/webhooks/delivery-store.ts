import { v7 as uuidv7 } from 'uuid';
import { change } from '../../storage/db/change-note.ts';
import type { Db, Transaction } from '../../storage/db/database.ts';
import { type Claim, finishWork } from '../../storage/db/work-queue.ts';
import { textsIn } from '../../storage/db/dialect.ts';
import { countRows } from '../../storage/db/quota.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { enqueueMessages } from './enqueue-messages.ts';
import type { StoredWebhook } from './store.ts';

export type StoredDelivery = Row<'webhook_delivery'>;

/** Content of a delivery: an event, or something that this service has observed itself. */
export type DeliveryEvent = Pick<StoredDelivery, 'type' | 'at' | 'data' | 'audience'>;

/** Event with the webhooks that report it. */
export interface EventFanOut {
  readonly event: DeliveryEvent;
  readonly webhooks: readonly StoredWebhook[];
}

/** Maximum number of waiting deliveries per user. */
export const maxWaiting = 10_000;
/** Number of ended deliveries that are kept per webhook. */
const maxEnded = 1000;

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

/** Creates the store of webhook deliveries. */
export function createDeliveryStore(db: Db) {
  const select = () => db.selectFrom('webhook_delivery').selectAll();
  return {
    /** Counts waiting deliveries, and events in the outbox. */
    async countWaiting(): Promise<ReadonlyMap<string, number>> {
      const deliveries = db.selectFrom('webhook_delivery').where('status', '=', 'waiting');
      const events = db.selectFrom('work').where('kind', '=', 'tell webhooks');
      return new Map([
        ['waiting', await countRows(deliveries)],
        ['outbox', await countRows(events)],
      ]);
    },

    /** Lists active webhooks of these users that subscribe to this event. */
    listListening: (userIds: readonly string[], type: string): Promise<StoredWebhook[]> =>
      db
        .selectFrom('webhook')
        .selectAll()
        .where('user_id', 'in', textsIn(db, userIds))
        .where('paused', '=', 0)
        .where('events', 'like', `%"${type}"%`)
        .execute(),

    /** Replaces claimed events by deliveries. Returns false when the claim was lost. */
    deliver: (claim: Claim, all: readonly EventFanOut[], now: number): Promise<boolean> =>
      finishWork(db, claim, async (transaction) => {
        const pairs = all.flatMap(({ event, webhooks }) => webhooks.map((webhook) => ({ event, webhook })));
        const byWebhook = Map.groupBy(pairs, ({ webhook }) => webhook);
        // Webhooks are processed in one order, because servers lock the work of the same webhooks at the same time.
        for (const [webhook, ofIt] of [...byWebhook].toSorted(([one], [other]) =>
          one.id < other.id ? -1 : 1,
        ))
          await insertDeliveries(transaction, { webhook, events: ofIt.map(({ event }) => event), now });
        return true;
      }),

    /** Adds a delivery. Returns undefined when the user has too many waiting deliveries. */
    insert: (
      webhook: StoredWebhook,
      event: DeliveryEvent,
      now: number,
    ): Promise<StoredDelivery | undefined> =>
      change(db, async (transaction) => {
        if ((await countWaiting(transaction, webhook.user_id)) >= maxWaiting) return undefined;
        const [row] = await insertDeliveries(transaction, { webhook, events: [event], now });
        return row;
      }),

    find: (webhookId: string, id: string): Promise<StoredDelivery | undefined> =>
      select().where('webhook_id', '=', webhookId).where('id', '=', id).executeTakeFirst(),

    list: (webhookId: string, cursor: string | undefined, limit: number): Promise<StoredDelivery[]> => {
      const query = select().where('webhook_id', '=', webhookId).orderBy('id', 'desc').limit(limit);
      return (cursor === undefined ? query : query.where('id', '<', cursor)).execute();
    },

    /**
     * Sends a delivery again. A waiting delivery becomes due at once. Returns undefined when the user has too many
     * waiting deliveries.
     */
    replay: ({ id, webhook_id, user_id }: StoredDelivery, now: number): Promise<StoredDelivery | undefined> =>
      change(db, async (transaction) => {
        await enqueueMessages(transaction, { id: webhook_id, user_id }, now);
        const again = transaction
          .updateTable('webhook_delivery')
          .set({ due_at: now })
          .where('id', '=', id)
          .where('status', '=', 'waiting')
          .returningAll();
        const waiting = await again.executeTakeFirst();
        if (waiting !== undefined) return waiting;
        if ((await countWaiting(transaction, user_id)) >= maxWaiting) return undefined;
        return transaction
          .updateTable('webhook_delivery')
          .set({ status: 'waiting', attempts: 0, due_at: now, ended_at: null, problem: '' })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst();
      }),

    /** Deletes deliveries from before this time, and ended deliveries beyond the maximum per webhook. */
    async deleteOld(before: number): Promise<void> {
      await db.deleteFrom('webhook_delivery').where('created_at', '<', before).execute();
      for (const { id } of await db.selectFrom('webhook').select('id').execute()) await trim(db, id);
    },
  };
}

interface Inserting {
  webhook: StoredWebhook;
  events: readonly DeliveryEvent[];
  now: number;
}

/** Stores deliveries and enqueues their sending. Deliveries beyond the user's maximum are stored as failed. */
export async function insertDeliveries(
  transaction: Transaction,
  { webhook, events, now }: Inserting,
): Promise<StoredDelivery[]> {
  if (events.length === 0) return [];
  await enqueueMessages(transaction, webhook, now);
  const waiting = await countWaiting(transaction, webhook.user_id);
  const rows = events.map(({ type, at, data, audience }, index) => {
    const isFull = waiting + index >= maxWaiting;
    return {
      id: uuidv7(),
      webhook_id: webhook.id,
      user_id: webhook.user_id,
      type,
      at,
      data,
      audience,
      status: isFull ? ('failed' as const) : ('waiting' as const),
      due_at: now,
      created_at: now,
      problem: isFull ? `${maxWaiting} deliveries waited already` : '',
      ended_at: isFull ? now : null,
    };
  });
  return transaction.insertInto('webhook_delivery').values(rows).returningAll().execute();
}

/** Counts the user's waiting deliveries, up to the maximum. */
async function countWaiting(transaction: Transaction, userId: string): Promise<number> {
  const waiting = transaction
    .selectFrom('webhook_delivery')
    .select('id')
    .where('user_id', '=', userId)
    .where('status', '=', 'waiting')
    .limit(maxWaiting);
  const { count } = await transaction
    .selectFrom(waiting.as('waiting'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

async function trim(db: Db, webhookId: string): Promise<void> {
  const ended = db
    .selectFrom('webhook_delivery')
    .select('id')
    .where('webhook_id', '=', webhookId)
    .where('status', '<>', 'waiting')
    .orderBy('id', 'desc')
    .offset(maxEnded)
    .limit(1);
  const first = await ended.executeTakeFirst();
  if (first === undefined) return;
  await db
    .deleteFrom('webhook_delivery')
    .where('webhook_id', '=', webhookId)
    .where('status', '<>', 'waiting')
    .where('id', '<=', first.id)
    .execute();
}
