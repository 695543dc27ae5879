import type { Kysely } from 'kysely';
import { createTrigger, execute } from './column-types.ts';

/** Creates the tables of users, tokens, and browser sessions. Each session references its token. */
export const createAccess = (db: Kysely<unknown>): Promise<void> =>
  execute(db, ({ text }) => [
    `create table "user" (
      id ${text} primary key, name ${text} not null, name_key ${text} not null, role ${text} not null,
      created_at bigint not null, disabled_at bigint)`,
    `create unique index user_name on "user" (name_key)`,
    `create table token (
      id ${text} primary key, user_id ${text} not null references "user" (id) on delete cascade,
      name ${text} not null, hash ${text} not null unique, scopes ${text} not null, project_ids ${text},
      selector ${text}, max_phones bigint, apps ${text},
      runs_per_day bigint, minutes_per_day bigint,
      created_at bigint not null, expires_at bigint, last_used_at bigint,
      parent_id ${text} references token (id) on delete cascade)`,
    `create index token_user on token (user_id)`,
    // Daily usage of a token with a budget. Has no foreign key, because jobs continue when their token is revoked.
    `create table token_use (
      token_id ${text} primary key, day bigint not null, runs bigint not null, run_ms bigint not null)`,
    `create index token_use_day on token_use (day)`,
    `create index token_parent on token (parent_id)`,
    `create table session (
      hash ${text} primary key, token_id ${text} not null references token (id) on delete cascade,
      created_at bigint not null, used_at bigint not null)`,
    `create index session_token on session (token_id)`,
    `create table sign_in_link (
      hash ${text} primary key, token_id ${text} not null references token (id) on delete cascade,
      expires_at bigint not null)`,
  ]);

/**
 * Creates the audit tables without foreign keys, because an audit event stays when its user or its project is deleted.
 */
export async function createAudit(db: Kysely<unknown>): Promise<void> {
  await execute(db, ({ text }) => [
    // The ID is a UUIDv7, which contains the time, so ordering by ID is chronological.
    `create table audit_entry (
      id ${text} primary key, action ${text} not null, outcome ${text} not null, code ${text},
      user_id ${text}, user_name ${text}, token_id ${text}, token_name ${text}, address ${text},
      subject_type ${text}, subject_id ${text}, subject_name ${text},
      details ${text} not null, count bigint not null, request_id ${text})`,
    ...['user_id', 'subject_id', 'action'].map(
      (column) => `create index audit_entry_${column} on audit_entry (${column}, id)`,
    ),
    `create table audit_reader (
      user_id ${text} not null, entry_id ${text} not null, primary key (user_id, entry_id))`,
    'create index audit_reader_entry on audit_reader (entry_id)',
  ]);
  await createTrigger(db, {
    name: 'audit_entry_stays',
    on: 'before update on audit_entry',
    refusal: 'what is in the audit log is not changed',
  });
}
