import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { execute } from './001-schema/column-types.ts';

/** Moves events for webhooks and pending messages into the work queue. */
export const webhookWork: Migration = {
  async up(db: Kysely<unknown>) {
    await execute(db, () => [
      `insert into work (kind, key, due_at, payload)
        select 'tell webhooks', id, 0,
          '{"type":"' || type || '","at":' || at || ',"data":' || data || ',"audience":' || audience || '}'
        from webhook_outbox order by id`,
      'drop table webhook_outbox',
      `insert into work (kind, key, lane, due_at)
        select 'send webhook messages', webhook_id, user_id, min(due_at)
        from webhook_delivery where status = 'waiting' group by webhook_id, user_id`,
      'alter table webhook_delivery drop column claimed_until',
      'alter table mail_use drop column claimed_until',
      // Servers of earlier releases would query the table and the columns.
      `update installation set needs = '015-webhook-work'`,
    ]);
  },
};
