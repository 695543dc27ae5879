import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';

import { databaseTime } from '../../lease.ts';
import { createTrigger } from './triggers.ts';
import { execute } from './column-types.ts';

/** What the servers of one database share: leases, cache invalidations, and launches on their way to a host. */
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

/** A row tells each server that what it caches of this name is out of date. */
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
