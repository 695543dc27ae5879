import { sql } from 'kysely';
import { minuteMs, dayMs } from '@phalanx/timing/durations';
import type { Transaction } from '../../../storage/db/database.ts';
import { serialize } from '../../../storage/db/transactions.ts';

/** Pause between two e-mails of a user to one mailbox. */
const pauseMs = 5 * minuteMs;
/** Maximum number of e-mails per day (UTC): of a user to one mailbox, and of a user to all mailboxes. */
const maxMailsOfDay = { toMailbox: 100, ofUser: 500 };

const dayOf = (now: number): number => Math.floor(now / dayMs);

interface Mail {
  readonly userId: string;
  readonly mailbox: string;
}

/**
 * Returns the time from which an e-mail may be sent: after the pause since the previous e-mail, and on a day with quota
 * left.
 */
export async function findMailFreeAt(
  transaction: Transaction,
  { userId, mailbox }: Mail,
  now: number,
): Promise<number> {
  const day = dayOf(now);
  const {
    next_at: nextAt,
    to_mailbox: toMailbox,
    sent,
  } = await transaction
    .selectFrom('mail_use')
    .select((eb) => {
      const sentToday = eb.case().when('day', '=', day).then(eb.ref('sent')).else(0).end();
      const ofMailbox = (value: typeof sentToday) =>
        eb.case().when('mailbox', '=', mailbox).then(value).else(0).end();
      return [
        eb.fn.max(ofMailbox(eb.ref('next_at'))).as('next_at'),
        eb.fn.max(ofMailbox(sentToday)).as('to_mailbox'),
        eb.fn.sum<number>(sentToday).as('sent'),
      ];
    })
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  const isDayUsed =
    Number(toMailbox ?? 0) >= maxMailsOfDay.toMailbox || Number(sent ?? 0) >= maxMailsOfDay.ofUser;
  return Math.max(Number(nextAt ?? 0), isDayUsed ? (day + 1) * dayMs : 0);
}

/**
 * Claims an e-mail from the quota. It counts as sent until it is given back. Returns false when none may be sent now.
 */
export async function claimMail(transaction: Transaction, mail: Mail, now: number): Promise<boolean> {
  const { userId, mailbox } = mail;
  await serialize(transaction, `e-mails of ${userId}`);
  if ((await findMailFreeAt(transaction, mail, now)) > now) return false;
  const day = dayOf(now);
  const claim = { next_at: now + pauseMs, day };
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

/** Gives back a claimed e-mail that was not sent. It is the last one, because an attempt is shorter than the pause. */
export async function giveMailBack(transaction: Transaction, { userId, mailbox }: Mail): Promise<void> {
  await transaction
    .updateTable('mail_use')
    .set((eb) => ({ next_at: 0, sent: eb('sent', '-', 1) }))
    .where('user_id', '=', userId)
    .where('mailbox', '=', mailbox)
    .execute();
}
