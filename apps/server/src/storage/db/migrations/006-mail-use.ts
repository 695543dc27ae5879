import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { execute } from './001-schema/column-types.ts';

/** Counts the e-mails that users have had sent to a mailbox, even after their webhooks are deleted. */
export const mailUse: Migration = {
  async up(db: Kysely<unknown>) {
    await execute(db, ({ text }) => [
      `alter table webhook add column mailbox ${text}`,
      `create table mail_use (
        user_id ${text} not null references "user" (id) on delete cascade, mailbox ${text} not null,
        next_at bigint not null, claimed_until bigint not null, day bigint not null, sent bigint not null,
        primary key (user_id, mailbox))`,
    ]);
    const { rows } = await sql<{
      url: string;
    }>`SELECT DISTINCT url FROM webhook WHERE url LIKE 'mailto:%'`.execute(db);
    for (const { url } of rows)
      await sql`UPDATE webhook SET mailbox = ${withoutTag(url)} WHERE url = ${url}`.execute(db);
  },
};

/** Returns the mailbox of a `mailto:` URL, in lower case and without `+…`. */
const withoutTag = (url: string): string => url.slice('mailto:'.length).toLowerCase().replace(/\+.*@/, '@');
