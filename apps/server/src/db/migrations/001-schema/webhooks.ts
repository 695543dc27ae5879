import type { Kysely } from 'kysely';

import { execute } from './column-types.ts';

/** Webhooks, what they are to tell of, and what became of it. */
export const createWebhooks = (db: Kysely<unknown>): Promise<void> =>
  execute(db, ({ text }) => [
    `create table webhook (
      id ${text} primary key, user_id ${text} not null references "user" (id) on delete cascade,
      token_projects ${text}, name ${text} not null, url ${text} not null, events ${text} not null,
      outcomes ${text} not null, project_ids ${text} not null, not_ready_minutes bigint not null,
      failing_percent bigint not null, failing_hours bigint not null, silent_hours bigint not null,
      signature ${text} not null, sealed ${text} not null, public_key ${text}, earlier_sealed ${text},
      earlier_until bigint, paused bigint not null, problem ${text} not null default '',
      heard_since bigint not null, failing_since bigint, last_success_at bigint, last_failure_at bigint,
      last_failure ${text} not null default '', created_at bigint not null)`,
    'create index webhook_user on webhook (user_id, id)',
    `create table webhook_outbox (
      id ${text} primary key, type ${text} not null, at bigint not null, data ${text} not null,
      audience ${text} not null)`,
    `create table webhook_delivery (
      id ${text} primary key, webhook_id ${text} not null references webhook (id) on delete cascade,
      user_id ${text} not null, type ${text} not null, at bigint not null, data ${text} not null,
      audience ${text} not null, status ${text} not null, attempts bigint not null default 0,
      due_at bigint not null, claimed_until bigint, response_status bigint, problem ${text} not null default '',
      created_at bigint not null, ended_at bigint)`,
    'create index webhook_delivery_webhook on webhook_delivery (webhook_id, id)',
    "create index webhook_delivery_due on webhook_delivery (webhook_id, due_at) where status = 'waiting'",
    "create index webhook_delivery_user on webhook_delivery (user_id) where status = 'waiting'",
    'create index webhook_delivery_created on webhook_delivery (created_at)',
    `create table webhook_absence (
      webhook_id ${text} not null references webhook (id) on delete cascade, kind ${text} not null,
      target_id ${text} not null, since bigint not null, is_told bigint not null,
      primary key (webhook_id, kind, target_id))`,
  ]);
