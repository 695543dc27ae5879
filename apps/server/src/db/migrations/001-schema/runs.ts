import type { Kysely } from 'kysely';

import { createTrigger } from '../../triggers.ts';
import { execute } from './column-types.ts';

/**
 * Launches, their runs, and the size of archived logs. The indexes of runs leave out runs that have not ended where they
 * can: a thousand runs begin at once, and each index would be written a thousand times.
 */
export async function createRuns(db: Kysely<unknown>): Promise<void> {
  await execute(db, ({ text }) => [
    `create table launch (
      id ${text} primary key, user_id ${text} not null references "user" (id) on delete cascade,
      launch_id ${text}, fingerprint ${text} not null, answer ${text}, token_name ${text},
      tree ${text}, parameters ${text}, created_at bigint not null,
      constraint launch_user_launch_id unique (user_id, launch_id))`,
    'create index launch_created on launch (created_at)',
    `create table run (
      id ${text} primary key, launch ${text} not null references launch (id) on delete cascade,
      user_id ${text} not null, device_id ${text} not null, device_owner_id ${text} not null,
      host_id ${text} not null, automation_id ${text} not null, project_name ${text}, launch_id ${text},
      status ${text} not null,
      stop_requested bigint not null default 0, outcome ${text}, error_code ${text}, error_message ${text},
      error_stack ${text}, "commit" ${text}, dirty bigint, created_at bigint not null, started_at bigint,
      ended_at bigint, epoch bigint)`,
    'create index run_user on run (user_id, id)',
    'create index run_user_ended on run (user_id, status, id) where ended_at is not null',
    'create index run_device_ended on run (device_id, id) where ended_at is not null',
    'create index run_automation on run (automation_id, id)',
    'create index run_launch on run (launch)',
    // Runs that have not ended are few, whatever is stored.
    'create index run_active on run (id) where ended_at is null',
    'create index run_active_user on run (user_id) where ended_at is null',
    // As `host_session` writes IDs of hosts.
    'create index run_active_host on run (device_owner_id, lower(host_id)) where ended_at is null',
    'create index run_foreign on run (device_id) where user_id <> device_owner_id',
    // A project runs once on a device, whoever starts it there at the same moment.
    `create unique index run_once on run (device_id, automation_id)
      where ended_at is null and launch_id is null`,
    // A table of its own: a result may be large, and lists of runs do not show it.
    `create table run_result (
      run_id ${text} primary key references run (id) on delete cascade, json ${text} not null)`,
    `create table kept_log (
      run_id ${text} primary key references run (id) on delete cascade, user_id ${text} not null,
      bytes bigint not null)`,
    'create index kept_log_user on kept_log (user_id, run_id)',
    // `user_id`: of the host that has uploaded it.
    `create table run_file (
      run_id ${text} not null references run (id) on delete cascade, name_key ${text} not null,
      name ${text} not null, file_id ${text} not null, user_id ${text} not null, content_type ${text} not null,
      size_bytes bigint not null, sha256 ${text} not null, created_at bigint not null,
      primary key (run_id, name_key))`,
  ]);
  await createTrigger(db, {
    name: 'run_files_end',
    on: 'after delete on run_file',
    statement: 'insert into capture_deletion (record_id) values (old.run_id) on conflict do nothing',
  });
}
