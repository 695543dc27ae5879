import type { Kysely } from 'kysely';

import { execute } from './column-types.ts';

/** Devices, hosts and their newest connections, the servers that are alive, and who may use a device. */
export const createFleet = (db: Kysely<unknown>): Promise<void> =>
  execute(db, ({ text, growingKey }) => [
    `create table device (
      id ${text} primary key, owner_id ${text} not null references "user" (id) on delete cascade,
      serial ${text} not null, host_id ${text} not null, host_name ${text} not null,
      brand ${text} not null, model ${text} not null, android_version ${text} not null,
      sdk_version bigint not null, screen_width bigint not null, screen_height bigint not null,
      last_seen_at bigint not null, state ${text} not null, reason ${text} not null, since bigint not null,
      warnings ${text} not null default '[]',
      epoch bigint, constraint device_owner_serial unique (owner_id, serial))`,
    'create index device_host on device (owner_id, host_id)',
    'create index device_owner_id on device (owner_id, id)',
    `create table host (
      owner_id ${text} not null references "user" (id) on delete cascade, id ${text} not null,
      given_id ${text} not null default '', name ${text} not null default '',
      token_id ${text} references token (id) on delete set null, seen_at bigint not null,
      primary key (owner_id, id))`,
    'create index host_token on host (token_id)',
    `create table node (id ${text} primary key, started_at bigint not null, lease_until bigint)`,
    `create table host_session (
      epoch ${growingKey}, owner_id ${text} not null references "user" (id) on delete cascade,
      host_id ${text} not null, node_id ${text} references node (id) on delete set null,
      opened_at bigint not null, ended_at bigint, knows_secrets bigint not null default 0,
      knows_app_limits bigint not null default 0,
      replays bigint not null default 0,
      last_log_id ${text} not null default '',
      constraint host_session_host unique (owner_id, host_id))`,
    // Of a device, or of all devices of a host.
    `create table share (
      owner_id ${text} not null references "user" (id) on delete cascade, kind ${text} not null,
      target_id ${text} not null, user_id ${text} not null references "user" (id) on delete cascade,
      role ${text} not null, primary key (owner_id, kind, target_id, user_id))`,
    // The same: what people call a device, and the labels of it or of all devices of a host.
    `create table label_set (
      owner_id ${text} not null references "user" (id) on delete cascade, kind ${text} not null,
      target_id ${text} not null, name ${text} not null, labels ${text} not null,
      primary key (owner_id, kind, target_id))`,
    `create table pool (
      user_id ${text} not null references "user" (id) on delete cascade, name_key ${text} not null,
      name ${text} not null, selector ${text} not null, primary key (user_id, name_key))`,
  ]);
