import { type RawBuilder, sql, type SqlBool } from 'kysely';
import { minuteMs, dayMs } from '../../../kernel/durations.ts';
import type { Db, Transaction } from '../../../storage/db/database.ts';
import { serialize } from '../../../storage/db/transactions.ts';
import type { Row } from '../../../storage/db/tables/tables.ts';

/** Pause between two e-mails of a user to one mailbox. */
const pauseMs = 5 * minuteMs;
/** E-mails of a day, which ends at midnight UTC: to one mailbox, and to all of a user. */
const maxMailsOfDay = { toMailbox: 100, ofUser: 500 };

const dayOf = (now: number): number => Math.floor(now / dayMs);

/** Whether a webhook may send now; of e-mails, the pause after the one before is over, and the day has some left. */
export const mayBeSent = (now: number): RawBuilder<SqlBool> =>
  sql`NOT EXISTS (SELECT 1 FROM mail_use WHERE mail_use.user_id = webhook.user_id
    AND mail_use.mailbox = webhook.mailbox AND (mail_use.next_at > ${now}
      OR (mail_use.day = ${dayOf(now)} AND mail_use.sent >= ${maxMailsOfDay.toMailbox})))`;

interface Claim {
  readonly userId: string;
  readonly mailbox: string;
  readonly now: number;
  readonly until: number;
}

/** Whether an e-mail was still free to send: then it counts as sent, until it is given back. */
export async function claimMail(
  transaction: Transaction,
  { userId, mailbox, now, until }: Claim,
): Promise<boolean> {
  await serialize(transaction, `e-mails of ${userId}`);
  const day = dayOf(now);
  const used = await transaction
    .selectFrom('mail_use')
    .select((eb) => [
      eb.fn.max(eb.case().when('mailbox', '=', mailbox).then(eb.ref('next_at')).else(0).end()).as('next_at'),
      eb.fn.sum<number>(eb.case().when('day', '=', day).then(eb.ref('sent')).else(0).end()).as('sent'),
    ])
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  if (Number(used.next_at ?? 0) > now || Number(used.sent ?? 0) >= maxMailsOfDay.ofUser) return false;
  const claim = { next_at: now + pauseMs, claimed_until: until, day };
  await transaction
    .insertInto('mail_use')
    .values({ ...claim, user_id: userId, mailbox, sent: 1 })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'mailbox']).doUpdateSet({
        ...claim,
        sent: sql<number>`CASE WHEN mail_use.day = ${day} THEN mail_use.sent + 1 ELSE 1 END`,
      }),
    )
    .execute();
  return true;
}

/** No e-mail was sent after all. */
export async function giveMailBack(
  db: Db,
  { webhook_id, user_id, claimed_until }: Row<'webhook_delivery'>,
): Promise<void> {
  await db
    .updateTable('mail_use')
    .set((eb) => ({ next_at: 0, claimed_until: 0, sent: eb('sent', '-', 1) }))
    .where('user_id', '=', user_id)
    .where('claimed_until', '=', claimed_until ?? 0)
    .where('mailbox', '=', (eb) => eb.selectFrom('webhook').select('mailbox').where('id', '=', webhook_id))
    .execute();
}
