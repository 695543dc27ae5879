import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { execute } from './001-schema/column-types.ts';

/** The limited token that a webhook was made with; unknown for existing webhooks. */
export const tokensOfWebhooks: Migration = {
  async up(db: Kysely<unknown>) {
    await execute(db, ({ text }) => [`alter table webhook add column token_id ${text}`]);
  },
};
