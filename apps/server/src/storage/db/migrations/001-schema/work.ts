import type { Kysely } from 'kysely';
import { createTrigger, execute } from './column-types.ts';

/**
 * Creates the tables of launches, their runs, and the size of archived logs. Indexes of runs exclude active runs where
 * they can: a thousand runs may begin at once, and each index would be written a thousand times.
 */
export async function createRuns(db: Kysely<unknown>): Promise<void> {
  await execute(db, ({ text }) => [
    `create table launch (
      id ${text} primary key, user_id ${text} not null references "user" (id) on delete cascade,
      launch_id ${text}, fingerprint ${text} not null, answer ${text}, token_name ${text},
      budget_token ${text},
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
      ended_at bigint, log_left bigint not null default 0, epoch bigint)`,
    'create index run_user on run (user_id, id)',
    'create index run_user_ended on run (user_id, status, id) where ended_at is not null',
    'create index run_device_ended on run (device_id, id) where ended_at is not null',
    'create index run_automation on run (automation_id, id)',
    'create index run_launch on run (launch)',
    // Active runs are few, however many runs are stored.
    'create index run_active on run (id) where ended_at is null',
    'create index run_active_user on run (user_id) where ended_at is null',
    // Host IDs in lower case, as in `host_session`.
    'create index run_active_host on run (device_owner_id, lower(host_id)) where ended_at is null',
    'create index run_foreign on run (device_id) where user_id <> device_owner_id',
    // A project runs only once on a device at a time, even with concurrent launches.
    `create unique index run_once on run (device_id, automation_id)
      where ended_at is null and launch_id is null`,
    // Separate table, because code may be large and only requests for it read it.
    `create table launch_code (
      launch ${text} primary key references launch (id) on delete cascade, code ${text} not null)`,
    // Separate table, because a result may be large and lists of runs do not show it.
    `create table run_result (
      run_id ${text} primary key references run (id) on delete cascade, json ${text} not null)`,
    `create table kept_log (
      run_id ${text} primary key references run (id) on delete cascade, user_id ${text} not null,
      bytes bigint not null)`,
    'create index kept_log_user on kept_log (user_id, run_id)',
    // `user_id`: owner of the host that uploaded the file.
    `create table run_file (
      run_id ${text} not null references run (id) on delete cascade, name_key ${text} not null,
      name ${text} not null, file_id ${text} not null, user_id ${text} not null, content_type ${text} not null,
      size_bytes bigint not null, sha256 ${text} not null, created_at bigint not null,
      primary key (run_id, name_key))`,
    // `user_id`: owner of the host that uploaded the part.
    // `ended_at`: only for a video.
    `create table film_part (
      run_id ${text} not null references run (id) on delete cascade, number bigint not null,
      part_id ${text} not null, user_id ${text} not null, taken_at bigint not null, ended_at bigint,
      width bigint not null, height bigint not null, size_bytes bigint not null, no_video ${text},
      primary key (run_id, number))`,
    `create table run_stat (
      day bigint not null, user_id ${text} not null, automation_id ${text} not null, device_id ${text} not null,
      outcome ${text} not null, reason ${text} not null, name ${text} not null, runs bigint not null, started bigint not null,
      run_ms bigint not null, wait_ms bigint not null,
      primary key (day, user_id, automation_id, device_id, outcome, reason))`,
    'create index run_stat_device on run_stat (day, device_id)',
  ]);
  for (const table of ['run_file', 'film_part'])
    await createTrigger(db, {
      name: `${table}s_end`,
      on: `after delete on ${table}`,
      statement: 'insert into capture_deletion (record_id) values (old.run_id) on conflict do nothing',
    });
  await createRunStats(db);
  await createTokenUse(db);
}

/** Columns of `run_stat` for a row that the trigger sees as `row`. All runs of direct code count as one automation. */
const statColumns = (row: 'old' | 'new'): Record<string, string> => ({
  day: `${row}.ended_at / 86400000`,
  user_id: `${row}.user_id`,
  automation_id: `case when ${row}.launch_id is null then ${row}.automation_id else '' end`,
  device_id: `${row}.device_id`,
  outcome: `coalesce(${row}.outcome, case ${row}.status when 'completed' then 'succeeded' else ${row}.status end)`,
  reason: `coalesce(${row}.error_code, '')`,
  name: `case when ${row}.launch_id is null then coalesce(${row}.project_name, '') else '' end`,
  runs: '1',
  started: `case when ${row}.started_at is null then 0 else 1 end`,
  run_ms: `coalesce(${row}.ended_at - ${row}.started_at, 0)`,
  // The wait of a task starts when it could have begun, the wait of a launch when it was created.
  wait_ms: `coalesce(${row}.started_at, ${row}.ended_at)
    - coalesce((select min(waiting_since) from task_attempt where run_id = ${row}.id), ${row}.created_at)`,
});
const statSums = ['runs', 'started', 'run_ms', 'wait_ms'];

/**
 * Creates triggers that count a run in the transaction that ends it, and revert the count when the end of a lost run is
 * corrected.
 */
async function createRunStats(db: Kysely<unknown>): Promise<void> {
  const [added, taken] = [statColumns('new'), statColumns('old')];
  const sums = statSums.map((name) => `${name} = run_stat.${name} + excluded.${name}`);
  await createTrigger(db, {
    name: 'run_stat_take_back',
    on: 'after update of ended_at on run',
    when: 'old.ended_at is not null',
    statement: `update run_stat set ${statSums.map((name) => `${name} = ${name} - ${taken[name]}`).join(', ')}
      where ${['day', 'user_id', 'automation_id', 'device_id', 'outcome', 'reason']
        .map((name) => `${name} = ${taken[name]}`)
        .join(' and ')}`,
  });
  await createTrigger(db, {
    name: 'run_stat_add',
    on: 'after update of ended_at on run',
    when: 'new.ended_at is not null',
    statement: `insert into run_stat (${Object.keys(added).join(', ')}) values (${Object.values(added).join(', ')})
      on conflict (day, user_id, automation_id, device_id, outcome, reason)
      do update set name = excluded.name, ${sums.join(', ')}`,
  });
}

/** Creates a trigger that counts the time of a run in the transaction that ends it, on the day of its end. */
const createTokenUse = (db: Kysely<unknown>): Promise<void> =>
  createTrigger(db, {
    name: 'token_use_count',
    on: 'after update of ended_at on run',
    when: 'old.ended_at is null and new.ended_at > new.started_at',
    statement: `insert into token_use (token_id, day, runs, run_ms)
        select budget_token, new.ended_at / 86400000, 0, new.ended_at - new.started_at
        from launch where id = new.launch and budget_token is not null
      on conflict (token_id) do update set
        runs = case when token_use.day = excluded.day then token_use.runs else 0 end,
        run_ms = excluded.run_ms + case when token_use.day = excluded.day then token_use.run_ms else 0 end,
        day = excluded.day
      where token_use.day <= excluded.day`,
  });

/**
 * Creates the tables of jobs, their tasks, and the attempts of tasks. Indexes exclude ended rows where they can,
 * because what servers poll must not grow with the backlog or the history.
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
    // A run may process several tasks in sequence.
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

/** Creates the tables of webhooks, their events, and their deliveries. */
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
