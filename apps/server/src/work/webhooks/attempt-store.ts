import { sql } from 'kysely';
import type { Db, Transaction } from '../../storage/db/database.ts';
import { textsIn } from '../../storage/db/dialect.ts';
import { type Claim, endWork, renewClaim } from '../../storage/db/work-queue.ts';
import { secondMs } from '@phalanx/timing/durations';
import type { StoredDelivery } from './delivery-store.ts';
import { claimMail, findMailFreeAt, giveMailBack } from './mail/mail-use-store.ts';
import type { StoredWebhook } from './store.ts';

/** Deliveries of a webhook that are attempted together. */
export interface Batch {
  readonly webhook: StoredWebhook;
  readonly deliveries: readonly StoredDelivery[];
}

/** Result of an attempt at a delivery. */
export interface Attempt {
  readonly status: StoredDelivery['status'];
  /** Time of the next attempt, epoch ms; undefined when there is none. */
  readonly dueAt: number | undefined;
  readonly responseStatus: number | null;
  readonly problem: string;
  /** Whether the result counts for the health of the receiver. */
  readonly isHealth: boolean;
  /** Reason for pausing the webhook; undefined when it stays active. */
  readonly pausedFor: string | undefined;
}

interface MadeAttempts extends Batch {
  /** Result of each delivery; undefined when its attempt was not made after all. */
  readonly attempts: readonly (Attempt | undefined)[];
  readonly now: number;
}

/** Maximum number of deliveries per batch: one e-mail, one message to a chat, or two messages to a program. */
const maxInBatch = { mail: 500, chat: 100, phalanx: 2 };
/**
 * Interval at which the e-mail quota is checked again, because another webhook may give back an e-mail that it did not
 * send.
 */
const mailLookMs = 30 * secondMs;

export type AttemptStore = ReturnType<typeof createAttemptStore>;

/** Creates the store of delivery attempts, for the server that has claimed the work of the webhook. */
export function createAttemptStore(db: Db) {
  return {
    /**
     * Starts a batch of the deliveries that are due first, and counts their attempts. Returns undefined when nothing
     * may be sent now, or the claim was lost.
     */
    async begin(claim: Claim, now: number): Promise<Batch | undefined> {
      let batch: Batch | undefined;
      const isOurs = await renewClaim(db, claim, claim.until, async (transaction) => {
        batch = await beginBatch(transaction, webhookIdOf(claim), now);
        return true;
      });
      return isOurs ? batch : undefined;
    },

    /** Stores the results of a batch, and when its webhook is due again. Stores nothing when the claim was lost. */
    end: (claim: Claim, made: MadeAttempts): Promise<boolean> =>
      endWork(db, claim, async (transaction) => {
        const { webhook, deliveries, attempts, now } = made;
        for (const [at, { id }] of deliveries.entries())
          await storeAttempt(transaction, id, { attempt: attempts[at], now });
        await noteHealth(transaction, made);
        const isSent = attempts.some((attempt) => attempt?.status === 'delivered');
        if (webhook.mailbox !== null && !isSent) await giveMailBack(transaction, mailOf(webhook));
        return findNextTime(transaction, webhook.id, now);
      }),

    /** Stores when the webhook is due again, after nothing was sent. */
    rest: (claim: Claim, now: number): Promise<boolean> =>
      endWork(db, claim, (transaction) => findNextTime(transaction, webhookIdOf(claim), now)),
  };
}

/** Returns the ID of the one webhook of a claim. */
const webhookIdOf = ({ items }: Claim): string => items[0]?.key ?? '';

const mailOf = ({ user_id: userId, mailbox }: StoredWebhook) => ({ userId, mailbox: mailbox ?? '' });

const findActive = (transaction: Transaction, id: string): Promise<StoredWebhook | undefined> =>
  transaction
    .selectFrom('webhook')
    .selectAll()
    .where('id', '=', id)
    .where('paused', '=', 0)
    .executeTakeFirst();

async function beginBatch(
  transaction: Transaction,
  webhookId: string,
  now: number,
): Promise<Batch | undefined> {
  const webhook = await findActive(transaction, webhookId);
  if (webhook === undefined) return undefined;
  const due = await transaction
    .selectFrom('webhook_delivery')
    .select('id')
    .where('webhook_id', '=', webhookId)
    .where('status', '=', 'waiting')
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .orderBy('id')
    .limit(maxInBatchOf(webhook))
    .execute();
  if (due.length === 0) return undefined;
  if (webhook.mailbox !== null && !(await claimMail(transaction, mailOf(webhook), now))) return undefined;
  const ids = due.map(({ id }) => id);
  const deliveries = await transaction
    .updateTable('webhook_delivery')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('id', 'in', textsIn(transaction, ids))
    .returningAll()
    .execute();
  return { webhook, deliveries: deliveries.toSorted((one, other) => (one.id < other.id ? -1 : 1)) };
}

function maxInBatchOf({ mailbox, format }: StoredWebhook): number {
  if (mailbox !== null) return maxInBatch.mail;
  return format === 'phalanx' ? maxInBatch.phalanx : maxInBatch.chat;
}

async function storeAttempt(
  transaction: Transaction,
  id: string,
  { attempt, now }: { attempt: Attempt | undefined; now: number },
): Promise<void> {
  const update = transaction.updateTable('webhook_delivery').where('id', '=', id);
  if (attempt === undefined) {
    await update.set((eb) => ({ attempts: eb('attempts', '-', 1) })).execute();
    return;
  }
  const { status, problem, responseStatus: response_status, dueAt } = attempt;
  const result = { status, problem, response_status };
  await update
    .set(dueAt === undefined ? { ...result, ended_at: now } : { ...result, due_at: dueAt })
    .execute();
}

/**
 * Stores the health of a webhook. A failure is stored after a success, because its user has to know about undelivered
 * messages.
 */
async function noteHealth(transaction: Transaction, { webhook, attempts, now }: MadeAttempts): Promise<void> {
  const update = transaction.updateTable('webhook').where('id', '=', webhook.id);
  const counted = attempts.flatMap((attempt) => (attempt?.isHealth === true ? attempt : []));
  if (counted.some(({ status }) => status === 'delivered'))
    await update.set({ failing_since: null, last_success_at: now }).execute();
  const failures = counted.filter(({ status }) => status !== 'delivered');
  const failure = failures.find(({ pausedFor }) => pausedFor !== undefined) ?? failures.at(-1);
  if (failure === undefined) return;
  const failing_since = sql<number>`coalesce(failing_since, ${now})`;
  await update.set({ failing_since, last_failure_at: now, last_failure: failure.problem }).execute();
  if (failure.pausedFor !== undefined) await update.set({ paused: 1, problem: failure.pausedFor }).execute();
}

/** Returns when a webhook is due again, or undefined when nothing waits or it is paused. */
async function findNextTime(
  transaction: Transaction,
  webhookId: string,
  now: number,
): Promise<number | undefined> {
  const webhook = await findActive(transaction, webhookId);
  if (webhook === undefined) return undefined;
  const { due_at: dueAt } = await transaction
    .selectFrom('webhook_delivery')
    .select((eb) => eb.fn.min('due_at').as('due_at'))
    .where('webhook_id', '=', webhookId)
    .where('status', '=', 'waiting')
    .executeTakeFirstOrThrow();
  if (dueAt === null) return undefined;
  const mailFreeAt = webhook.mailbox === null ? 0 : await findMailFreeAt(transaction, mailOf(webhook), now);
  // The time is never before now, so the other webhooks of the user are due before this one continues.
  return Math.max(now, dueAt, Math.min(mailFreeAt, now + mailLookMs));
}
