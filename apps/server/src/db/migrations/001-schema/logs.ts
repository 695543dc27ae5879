import type { Kysely } from 'kysely';

import { isPostgres } from '../../dialect.ts';
import { createTrigger } from './triggers.ts';
import { execute } from './column-types.ts';

/** Of recent log entries, that are filled and emptied in turn. Beside SQLite, files take their place. */
const logTables = 16;

/** How far the log entries of each run are stored, kept logs, and in PostgreSQL the recent entries. */
export async function createLogs(db: Kysely<unknown>): Promise<void> {
  await execute(db, ({ text, bytes }) => [
    `create table log_progress (
      run_id ${text} primary key references run (id) on delete cascade, seq bigint not null)`,
    // No reference: with a user, gigabytes of chunks would go in one statement, which holds up all others in SQLite.
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
    // Room in each page for the next version of a row, so that no index changes with it.
    'alter table log_progress set (fillfactor = 70)',
    // The bytes are compressed already.
    'alter table kept_chunk alter column packed set storage external',
    `create table log_table (
      slot integer primary key, no bigint not null, state ${text} not null, begun_at bigint not null,
      newest bigint not null, last_id ${text} not null)`,
    // Each is emptied as a whole, and its rows are read by their key alone.
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
