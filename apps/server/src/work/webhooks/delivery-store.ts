import { type RawBuilder, sql, type SqlBool } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { change } from '../../storage/db/change-note.ts';
import type { Db, Transaction } from '../../storage/db/database.ts';
import { forUpdateSkipLocked, transact } from '../../storage/db/transactions.ts';
import { textsIn } from '../../storage/db/dialect.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { claimMail, giveMailBack, mayBeSent } from './mail/mail-use-store.ts';
import type { StoredWebhook } from './store.ts';

export type StoredDelivery = Row<'webhook_delivery'>;
export type StoredEvent = Row<'webhook_outbox'>;

/** Content of a delivery: an event, or something that this service has seen itself. */
export type DeliveryEvent = Pick<StoredDelivery, 'type' | 'at' | 'data' | 'audience'>;

/** Result of an attempt. */
export interface Attempt {
  readonly status: StoredDelivery['status'];
  /** Time of the next attempt; undefined: there is none. */
  readonly dueAt: number | undefined;
  readonly responseStatus: number | null;
  readonly problem: string;
  /** False: it says nothing of the receiver. */
  readonly isHealth: boolean;
  /** Why the webhook is to be paused; undefined: it goes on. */
  readonly pausedFor: string | undefined;
}

/** The webhooks that tell of an event. */
export interface EventFanOut {
  readonly event: StoredEvent;
  readonly webhooks: readonly StoredWebhook[];
}

/** Limits of one message: an e-mail, a message to a chat, and one for a program. */
const maxInMessage = { mail: 500, chat: 100, phalanx: 1 };

/** Maximum number of waiting deliveries per user. */
export const maxWaiting = 10_000;
/** Number of ended deliveries that are kept per webhook. */
const maxEnded = 1000;
const eventsAtOnce = 100;

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

/** Deliveries of webhooks and the outbox of events. */
export function createDeliveryStore(db: Db) {
  const select = () => db.selectFrom('webhook_delivery').selectAll();
  return {
    /** Lists the first events that nobody has dealt with. */
    listOutbox: (): Promise<StoredEvent[]> =>
      db.selectFrom('webhook_outbox').selectAll().orderBy('id').limit(eventsAtOnce).execute(),

    /** Counts deliveries that wait, and events in the outbox. */
    async countWaiting(): Promise<ReadonlyMap<string, number>> {
      const count = (table: 'webhook_delivery' | 'webhook_outbox') =>
        db.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('count'));
      const waiting = count('webhook_delivery').where('status', '=', 'waiting');
      return new Map([
        ['waiting', (await waiting.executeTakeFirstOrThrow()).count],
        ['outbox', (await count('webhook_outbox').executeTakeFirstOrThrow()).count],
      ]);
    },

    /** Lists webhooks of these users that ask for this event. */
    listListening: (userIds: readonly string[], type: string): Promise<StoredWebhook[]> =>
      db
        .selectFrom('webhook')
        .selectAll()
        .where('user_id', 'in', textsIn(db, userIds))
        .where('paused', '=', 0)
        .where('events', 'like', `%"${type}"%`)
        .execute(),

    /** Replaces the events by deliveries; leaves out those that another server was faster with. */
    deliver: (all: readonly EventFanOut[], now: number): Promise<void> =>
      transact(db, async (transaction) => {
        const ids = all.map(({ event }) => event.id);
        const query = transaction.deleteFrom('webhook_outbox').where('id', 'in', textsIn(transaction, ids));
        const mine = new Set((await query.returning('id').execute()).map(({ id }) => id));
        const events = new Map<StoredWebhook, DeliveryEvent[]>();
        for (const { event, webhooks } of all.filter((one) => mine.has(one.event.id)))
          for (const webhook of webhooks) events.set(webhook, [...(events.get(webhook) ?? []), event]);
        for (const [webhook, told] of events)
          await insertDeliveries(transaction, { webhook, events: told, now });
      }),

    /** Undefined: the user has as many that wait as they may. */
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

    /** Undefined: the user has as many that wait as they may. One that waits is due at once. */
    replay: ({ id, user_id }: StoredDelivery, now: number): Promise<StoredDelivery | undefined> =>
      change(db, async (transaction) => {
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

    /** Webhooks with something to do, among all or among these. */
    listDue: (now: number, ids?: readonly string[]): Promise<Pick<StoredWebhook, 'id' | 'user_id'>[]> => {
      const query = db
        .selectFrom('webhook')
        .select(['id', 'user_id'])
        .where('paused', '=', 0)
        .where(mayBeSent(now))
        .where(
          sql<boolean>`EXISTS (SELECT 1 FROM webhook_delivery AS due WHERE due.webhook_id = webhook.id
            AND due.status = 'waiting' AND due.due_at <= ${now} AND coalesce(due.claimed_until, 0) <= ${now})`,
        );
      return (ids === undefined ? query : query.where('id', 'in', textsIn(db, ids))).execute();
    },

    /**
     * Claims the delivery that is due first until then; of e-mails and chats, all that are due. Empty: none is due, or
     * others have claimed them.
     */
    claim: (webhookId: string, now: number, until: number): Promise<StoredDelivery[]> =>
      transact(db, async (transaction) => {
        const webhook = await transaction
          .selectFrom('webhook')
          .select(['user_id', 'mailbox', 'format'])
          .where('id', '=', webhookId)
          .where(mayBeSent(now))
          .executeTakeFirst();
        if (webhook === undefined) return [];
        const due = transaction
          .selectFrom('webhook_delivery')
          .select('id')
          .where('webhook_id', '=', webhookId)
          .where('status', '=', 'waiting')
          .where('due_at', '<=', now)
          .where(sql<boolean>`coalesce(claimed_until, 0) <= ${now}`)
          .orderBy('due_at')
          .orderBy('id')
          .limit(maxInMessageOf(webhook));
        const ids = (await forUpdateSkipLocked(transaction, due).execute()).map(({ id }) => id);
        if (ids.length === 0) return [];
        const { user_id: userId, mailbox } = webhook;
        if (mailbox !== null && !(await claimMail(transaction, { userId, mailbox, now, until }))) return [];
        const claimed = await transaction
          .updateTable('webhook_delivery')
          .set((eb) => ({ claimed_until: until, attempts: eb('attempts', '+', 1) }))
          .where('id', 'in', textsIn(transaction, ids))
          .returningAll()
          .execute();
        return claimed.toSorted((one, other) => (one.id < other.id ? -1 : 1));
      }),

    /** Gives back the e-mail that was claimed for these deliveries and not sent. */
    giveMailBack: (claimed: StoredDelivery): Promise<void> => giveMailBack(db, claimed),

    /** Releases a claim whose attempt was not made after all. */
    async release(claimed: StoredDelivery): Promise<void> {
      await db
        .updateTable('webhook_delivery')
        .set((eb) => ({ claimed_until: null, attempts: eb('attempts', '-', 1) }))
        .where(isOf(claimed))
        .execute();
    },

    /** Stores the result. Does nothing when the claim was over before, and somebody else has made it. */
    settle: (claimed: StoredDelivery, attempt: Attempt, now: number): Promise<void> =>
      transact(db, async (transaction) => {
        const { status, dueAt, responseStatus, problem } = attempt;
        const { numUpdatedRows } = await transaction
          .updateTable('webhook_delivery')
          .set({
            status,
            problem,
            response_status: responseStatus,
            claimed_until: null,
            ...(dueAt === undefined ? { ended_at: now } : { due_at: dueAt }),
          })
          .where(isOf(claimed))
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return;
        if (attempt.isHealth) await noteHealth(transaction, claimed.webhook_id, attempt, now);
      }),

    /** Deletes deliveries and events from before this time, and ended deliveries beyond the number that is kept. */
    async deleteOld(before: number): Promise<void> {
      await db.deleteFrom('webhook_delivery').where('created_at', '<', before).execute();
      await db.deleteFrom('webhook_outbox').where('at', '<', before).execute();
      for (const { id } of await db.selectFrom('webhook').select('id').execute()) await trim(db, id);
    },
  };
}

function maxInMessageOf({ mailbox, format }: Pick<StoredWebhook, 'mailbox' | 'format'>): number {
  if (mailbox !== null) return maxInMessage.mail;
  return format === 'phalanx' ? maxInMessage.phalanx : maxInMessage.chat;
}

/** The claim that an attempt was made on. */
const isOf = ({ id, attempts }: StoredDelivery): RawBuilder<SqlBool> =>
  sql`id = ${id} AND status = 'waiting' AND attempts = ${attempts}`;

interface Inserting {
  webhook: StoredWebhook;
  events: readonly DeliveryEvent[];
  now: number;
}

export async function insertDeliveries(
  transaction: Transaction,
  { webhook, events, now }: Inserting,
): Promise<StoredDelivery[]> {
  if (events.length === 0) return [];
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

/** Counts no further than the limit. */
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

async function noteHealth(
  transaction: Transaction,
  webhookId: string,
  { status, problem, pausedFor }: Attempt,
  now: number,
): Promise<void> {
  const failure = {
    last_failure_at: now,
    last_failure: problem,
    failing_since: sql<number>`coalesce(failing_since, ${now})`,
    ...(pausedFor === undefined ? {} : { paused: 1, problem: pausedFor }),
  };
  await transaction
    .updateTable('webhook')
    .set(status === 'delivered' ? { failing_since: null, last_success_at: now } : failure)
    .where('id', '=', webhookId)
    .execute();
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
