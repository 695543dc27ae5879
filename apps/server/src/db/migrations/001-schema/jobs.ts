import type { Kysely } from 'kysely';

import { execute } from './column-types.ts';

/**
 * Jobs, their tasks, and the attempts of these. Each index leaves out what has ended where it can: what servers look
 * for again and again must not grow with what waits, nor with what was done.
 */
export const createJobs = (db: Kysely<unknown>): Promise<void> =>
  execute(db, ({ text }) => [
    `create table job (
      id ${text} primary key, user_id ${text} not null references "user" (id) on delete cascade,
      project_id ${text} not null, project_name ${text} not null, token_name ${text}, token_projects ${text},
      token_phones ${text}, token_budget ${text}, fingerprint ${text} not null, selector ${text}, device_ids ${text}, count bigint, at_once bigint,
      is_distinct bigint not null, is_exclusive bigint not null, has_film bigint not null, phone_settings ${text},
      priority bigint not null, dedup_key ${text}, concurrency_key ${text}, concurrency_most bigint,
      parameters ${text} not null, retries ${text} not null, wait_until bigint, schedule_id ${text}, problem ${text} not null default '',
      created_at bigint not null, woken_at bigint not null, ended_at bigint, cancelled_at bigint, waiting bigint not null,
      running bigint not null default 0, completed bigint not null default 0, failed bigint not null default 0,
      cancelled bigint not null default 0, constraint job_key unique (user_id, dedup_key))`,
    'create index job_user on job (user_id, id)',
    'create index job_project on job (project_id, id)',
    'create index job_waiting on job (user_id, priority) where waiting > 0',
    'create index job_woken on job (woken_at) where waiting > 0',
    'create index job_limit on job (wait_until) where waiting > 0 and wait_until is not null',
    'create index job_concurrency on job (user_id, concurrency_key) where running > 0',
    'create index job_schedule on job (schedule_id, id) where schedule_id is not null',
    'create index job_ended on job (ended_at) where ended_at is not null',
    `create table task (
      id ${text} primary key, job_id ${text} not null references job (id) on delete cascade,
      number bigint not null, status ${text} not null, parent_id ${text}, input ${text}, result ${text}, error_code ${text},
      error_message ${text}, run_id ${text}, device_id ${text}, attempts bigint not null default 0,
      due_at bigint not null default 0, ended_at bigint)`,
    'create index task_job on task (job_id, number)',
    "create index task_waiting on task (job_id, number) where status = 'waiting'",
    "create index task_due on task (due_at) where status = 'waiting' and due_at > 0",
    "create index task_running on task (run_id) where status = 'running'",
    `create table task_attempt (
      task_id ${text} not null references task (id) on delete cascade, number bigint not null, run_id ${text} not null,
      device_id ${text} not null, waiting_since bigint not null, began_at bigint not null, ended_at bigint, reason ${text} not null,
      primary key (task_id, number))`,
    // A run may take one task after the other.
    'create index task_attempt_run on task_attempt (run_id, began_at)',
    `create table schedule (
      id ${text} primary key, user_id ${text} not null references "user" (id) on delete cascade,
      project_id ${text} not null, token_name ${text}, token_projects ${text}, token_phones ${text}, token_budget ${text}, name ${text} not null,
      cron ${text} not null, time_zone ${text} not null, jitter_seconds bigint not null, work ${text} not null,
      overlap ${text} not null, missed ${text} not null, paused bigint not null, problem ${text} not null default '',
      planned_at bigint, due_at bigint, queued_at bigint, created_at bigint not null)`,
    'create index schedule_user on schedule (user_id, id)',
    'create index schedule_due on schedule (due_at) where paused = 0 and due_at is not null',
    'create index schedule_queued on schedule (id) where queued_at is not null',
    `create table schedule_turn (
      id ${text} primary key, schedule_id ${text} not null references schedule (id) on delete cascade,
      planned_at bigint not null, at bigint not null, job_id ${text}, reason ${text} not null)`,
    'create index schedule_turn_schedule on schedule_turn (schedule_id, id)',
  ]);
