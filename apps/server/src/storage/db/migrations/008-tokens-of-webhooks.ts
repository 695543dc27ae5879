import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { execute } from './001-schema/column-types.ts';

/** Adds the limited token that created a webhook; unknown for existing webhooks. */
export const tokensOfWebhooks: Migration = {
  async up(db: Kysely<unknown>) {
    await execute(db, ({ text }) => [`alter table webhook add column token_id ${text}`]);
  },
};
