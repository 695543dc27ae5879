import type { Kysely } from 'kysely';

import { execute } from './column-types.ts';

/** Number of combinations of type, status and completeness; each has a number and a column. */
const cellCount = 24;
const cells = Array.from({ length: cellCount }, (_, cell) => `c${cell} bigint not null default 0`);
const lists = ['owner_id', 'owner_id, tag', 'owner_id, automation_id', 'owner_id, automation_id, tag'];

/** Creates the tables of records, their screens, and the tree of counts for positions and totals. */
export const createRecords = (db: Kysely<unknown>): Promise<void> =>
  execute(db, ({ text, bytes }) => [
    `create table record (
      id ${text} primary key, owner_id ${text} not null, automation_id ${text} not null, project_id ${text},
      run_id ${text} not null, user_id ${text} not null, device_id ${text} not null, device_info ${text} not null,
      automation_name ${text} not null, cell bigint not null, tag ${text} not null,
      retention_group ${text} not null, saved bigint not null default 0, has_gap bigint not null,
      missing_captures bigint not null, capture_bytes bigint not null default 0, added_at bigint not null,
      error ${text}, app ${text})`,
    ...lists.map((columns, number) => `create index record_list_${number} on record (${columns}, cell, id)`),
    ...['run_id', 'device_id'].map(
      (column) => `create index record_by_${column} on record (${column}, owner_id, cell, id)`,
    ),
    'create index record_retention on record (owner_id, automation_id, retention_group, id)',
    'create index record_project on record (project_id) where project_id is not null',
    'create index record_saved on record (id) where saved = 1',
    `create table record_screen (
      record_id ${text} not null references record (id) on delete cascade, position bigint not null,
      screen_id ${text} not null, next_stage ${text} not null, screen_state ${text} not null,
      max_steps bigint not null, captured_at bigint not null, tree ${text} not null, screenshot ${text} not null,
      width bigint not null, height bigint not null, original_width bigint not null,
      original_height bigint not null, actions ${text}, primary key (record_id, screen_id))`,
    // Deleted records and runs whose captures and files may still exist.
    `create table capture_deletion (record_id ${text} primary key)`,
    `create table record_tally (
      list ${text} not null, node ${text} not null, is_split bigint not null default 0,
      n bigint not null default 0, ${cells.join(', ')}, primary key (list, node))`,
    ...groupTables(text),
    ...replayTables(text, bytes),
  ]);

/** Groups of records, their members, and the changes of groups. */
const groupTables = (text: string): string[] => [
  `create table record_grouping (
      record_id ${text} primary key references record (id) on delete cascade, screen_id ${text} not null,
      is_ready bigint not null, commit_hash ${text}, claimed_until bigint not null default 0)`,
  'create index record_grouping_ready on record_grouping (claimed_until) where is_ready = 1',
  `create table record_group (
      id ${text} primary key, owner_id ${text} not null, automation_id ${text} not null, project_id ${text},
      automation_name ${text} not null, package_name ${text} not null, title ${text} not null, next_stage ${text} not null,
      screen_state ${text} not null, status ${text} not null, assignee_id ${text}, solved_commit ${text}, solved_at bigint,
      reopened_at bigint, reopened_by ${text}, records bigint not null, phones bigint not null,
      first_seen bigint not null, last_seen bigint not null, merged_into ${text}, last_move ${text},
      first_version ${text})`,
  'create index record_group_owner on record_group (owner_id, automation_id, last_seen)',
  'create index record_group_app on record_group (owner_id, automation_id, package_name, last_seen)',
  'create index record_group_project on record_group (project_id) where project_id is not null',
  // Project IDs without a foreign key, because the end of a run must be stored even if its project has been deleted.
  `create table app_version (
      project_id ${text} not null, package ${text} not null, version ${text} not null, runs bigint not null,
      bad_runs bigint not null, records bigint not null, first_seen bigint not null, last_seen bigint not null,
      drift_at bigint, drift ${text}, primary key (project_id, package, version))`,
  'create index app_version_seen on app_version (last_seen)',
  'create index record_group_empty on record_group (last_seen) where records = 0',
  `create table group_member (
      record_id ${text} primary key references record (id) on delete cascade, group_id ${text},
      screen_id ${text} not null, device_id ${text} not null, print_key ${text}, reason ${text}, problem ${text} not null,
      is_outdated bigint not null, commit_hash ${text}, app_version ${text}, language ${text})`,
  'create index group_member_group on group_member (group_id, record_id) where group_id is not null',
  'create index group_member_device on group_member (group_id, device_id) where group_id is not null',
  `create table group_print (
      owner_id ${text} not null, automation_id ${text} not null, print_key ${text} not null,
      group_id ${text} not null references record_group (id) on delete cascade, is_sample bigint not null,
      print ${text} not null, language ${text}, app_version ${text}, added_at bigint not null,
      primary key (owner_id, automation_id, print_key))`,
  'create index group_print_group on group_print (group_id)',
  `create table group_move (
      id ${text} primary key, kind ${text} not null, group_id ${text} not null references record_group (id) on delete cascade,
      made_by ${text} not null, made_at bigint not null, mark ${text}, before ${text} not null,
      is_undone bigint not null default 0, is_unfinished bigint not null default 0)`,
  'create index group_move_unfinished on group_move (made_at) where is_unfinished = 1',
  'create index group_move_made on group_move (made_at)',
  'create index group_move_group on group_move (group_id)',
  `create table group_move_record (
      move_id ${text} not null references group_move (id) on delete cascade, record_id ${text} not null,
      group_id ${text} not null, reason ${text}, is_done bigint not null default 0,
      primary key (move_id, record_id))`,
  `create table group_solving (
      group_id ${text} not null references record_group (id) on delete cascade, commit_hash ${text} not null,
      project_id ${text} not null references project (id) on delete cascade, user_id ${text} not null,
      noted_at bigint not null, primary key (group_id, commit_hash))`,
  'create index group_solving_project on group_solving (project_id)',
];

/** Screens that are kept for replays, the replays, and their verdicts. */
const replayTables = (text: string, bytes: string): string[] => [
  `create table group_screen (
      owner_id ${text} not null, automation_id ${text} not null, print_key ${text} not null, record_id ${text} not null,
      next_stage ${text} not null, screen_state ${text} not null, tree ${bytes} not null, size_bytes bigint not null,
      primary key (owner_id, automation_id, print_key),
      foreign key (owner_id, automation_id, print_key)
        references group_print (owner_id, automation_id, print_key) on delete cascade)`,
  `create table replay (
      id ${text} primary key, project_id ${text} not null references project (id) on delete cascade,
      owner_id ${text} not null, tree_id ${text} not null, commit_hash ${text}, is_draft bigint not null default 0,
      screen_set ${text} not null, group_id ${text}, record_id ${text}, sequence ${text}, cause ${text} not null, status ${text} not null, problem ${text} not null, made_by ${text} not null, counts ${text} not null,
      created_at bigint not null, started_at bigint, ended_at bigint, claimed_until bigint not null default 0)`,
  'create index replay_project on replay (project_id, id)',
  'create index replay_commit on replay (commit_hash) where commit_hash is not null',
  'create index replay_due on replay (claimed_until) where ended_at is null',
  `create table replay_draft (
      replay_id ${text} primary key references replay (id) on delete cascade, content ${bytes} not null)`,
  `create table replay_verdict (
      replay_id ${text} not null references replay (id) on delete cascade, position bigint not null,
      kind ${text} not null, name ${text} not null, group_id ${text}, expected ${text}, outcome ${text} not null,
      change ${text} not null, verdict ${text} not null, primary key (replay_id, position))`,
  'create index replay_verdict_group on replay_verdict (group_id, replay_id) where group_id is not null',
];
