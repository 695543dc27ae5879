import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { execute, createTrigger } from './column-types.ts';
import { databaseTime } from '../../lease.ts';
import { isPostgres } from '../../dialect.ts';

/** Creates the tables of devices, hosts and their newest connections, live servers, and access to devices. */
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
    // Share of a device, or of all devices of a host.
    `create table share (
      owner_id ${text} not null references "user" (id) on delete cascade, kind ${text} not null,
      target_id ${text} not null, user_id ${text} not null references "user" (id) on delete cascade,
      role ${text} not null, primary key (owner_id, kind, target_id, user_id))`,
    // Name of a device, and labels of it or of all devices of a host.
    `create table label_set (
      owner_id ${text} not null references "user" (id) on delete cascade, kind ${text} not null,
      target_id ${text} not null, name ${text} not null, labels ${text} not null,
      primary key (owner_id, kind, target_id))`,
    `create table pool (
      user_id ${text} not null references "user" (id) on delete cascade, name_key ${text} not null,
      name ${text} not null, selector ${text} not null, primary key (user_id, name_key))`,
  ]);

/**
 * Creates the tables that the servers of one database share: leases, cache invalidations, and launches in flight to a
 * host.
 */
export async function createCluster(db: Kysely<unknown>): Promise<void> {
  await createShared(db);
  await createInvalidations(db);
}

async function createShared(db: Kysely<unknown>): Promise<void> {
  await execute(db, ({ text, growingKey }) => [
    `create table installation (id ${text} not null, needs text not null default '', url_key text,
      sealing_key_id text)`,
    `create table bundle (
      hash ${text} primary key, code text not null, source_map text, used_at bigint not null)`,
    `create table launch_payload (
      launch ${text} primary key references launch (id) on delete cascade, bundle_hash ${text} not null,
      given text not null, created_at bigint not null)`,
    `create table device_lease (
      device_id ${text} primary key references device (id) on delete cascade,
      user_id ${text} not null references "user" (id) on delete cascade, since bigint not null,
      duration_ms bigint not null, expires_at bigint not null,
      id ${text} not null, is_exclusive integer not null)`,
    `create table lease_code (
      position ${growingKey}, device_id ${text} not null references device_lease (device_id) on delete cascade,
      lease_id ${text} not null, lines text not null)`,
    'create index lease_code_by_device on lease_code (device_id, position)',
  ]);
  await sql`insert into installation (id) values (${randomUUID()})`.execute(db);
}

/** Creates the cache invalidations: a row tells each server that its cache of this name is stale. */
async function createInvalidations(db: Kysely<unknown>): Promise<void> {
  await execute(db, ({ text, growingKey }) => [
    `create table cache_invalidation (id ${growingKey}, name ${text} not null, at bigint not null)`,
  ]);
  const now = databaseTime(db).compile(db).sql;
  for (const [name, ...events] of [
    ['access', 'delete on token', 'update of name, role, disabled_at on "user"', 'delete on "user"'],
    ['shares', 'insert on share', 'update on share', 'delete on share'],
    ['shares', 'insert on "user"', 'update of name on "user"', 'delete on "user"'],
    ['people', 'insert on project_member', 'update on project_member', 'delete on project_member'],
    ['people', 'update of owner_id on project', 'delete on project'],
    ['leases', 'insert on device_lease', 'update on device_lease', 'delete on device_lease'],
    ['labels', 'insert on label_set', 'update on label_set', 'delete on label_set'],
    ['labels', 'insert on pool', 'update on pool', 'delete on pool'],
    ['sessions', 'delete on session'],
  ] as const)
    for (const event of events)
      await createTrigger(db, {
        name: `invalidate_${name}_${event.replaceAll(/\W+/g, '_')}`,
        on: `after ${event}`,
        statement: `insert into cache_invalidation (name, at) values ('${name}', ${now})`,
      });
}

/** Number of tables of recent log entries, filled and emptied in rotation. With SQLite, files take their place. */
const logTables = 16;

/** Creates the tables of the log storage progress per run, kept logs and, in PostgreSQL, recent entries. */
export async function createLogs(db: Kysely<unknown>): Promise<void> {
  await execute(db, ({ text, bytes }) => [
    `create table log_progress (
      run_id ${text} primary key references run (id) on delete cascade, seq bigint not null)`,
    // No foreign key: deleting a user would delete gigabytes of chunks in one statement, which blocks all others in
    // SQLite.
    `create table kept_chunk (
      run_id ${text} not null, kind ${text} not null, first bigint not null, count bigint not null,
      last_id ${text} not null, size_bytes bigint not null, packed ${bytes} not null, primary key (run_id, kind, first))`,
    `create table kept_chunk_deletion (run_id ${text} primary key)`,
  ]);
  await createTrigger(db, {
    name: 'run_kept_chunks_end',
    on: 'after delete on run',
    statement: `insert into kept_chunk_deletion (run_id)
      select old.id where exists (select 1 from kept_chunk where run_id = old.id)`,
  });
  if (isPostgres(db)) await createRecentLogs(db);
}

async function createRecentLogs(db: Kysely<unknown>): Promise<void> {
  const slots = Array.from({ length: logTables }, (_, slot) => slot);
  await execute(db, ({ text }) => [
    // Leaves room in each page for the next version of a row, so that updates change no index.
    'alter table log_progress set (fillfactor = 70)',
    // The bytes are already compressed.
    'alter table kept_chunk alter column packed set storage external',
    `create table log_table (
      slot integer primary key, no bigint not null, state ${text} not null, begun_at bigint not null,
      newest bigint not null, last_id ${text} not null)`,
    // Each table is emptied as a whole, and its rows are read by key only.
    ...slots.map(
      (slot) => `create table log_${slot} (
      device_id ${text} not null, automation_id ${text} not null, last_id ${text} not null,
      first_id ${text} not null, last_seq bigint not null, oldest bigint not null, newest bigint not null,
      count integer not null, entries ${text} not null, primary key (device_id, automation_id, last_id))
      with (autovacuum_enabled = false, toast.autovacuum_enabled = false)`,
    ),
    ...slots.map((slot) => `insert into log_table values (${slot}, 0, 'empty', 0, 0, '')`),
  ]);
}
