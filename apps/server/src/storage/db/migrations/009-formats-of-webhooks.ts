import type { Migration } from 'kysely/migration';

import { execute } from './001-schema/column-types.ts';

/** Adds the message format of a webhook; existing webhooks have Phalanx's own. */
export const formatsOfWebhooks: Migration = {
  async up(db) {
    await execute(db, ({ text }) => [
      `alter table webhook add column format ${text} not null default 'phalanx'`,
    ]);
  },
};
