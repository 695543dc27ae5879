import type { Kysely } from 'kysely';

import { execute } from './column-types.ts';

/** Each combination of type, status and completeness has one number and one column. */
const cellCount = 24;
const cells = Array.from({ length: cellCount }, (_, cell) => `c${cell} bigint not null default 0`);
const lists = ['owner_id', 'owner_id, tag', 'owner_id, automation_id', 'owner_id, automation_id, tag'];

/** Records, their screens, and the tree of counts that gives positions and totals. */
export const createRecords = (db: Kysely<unknown>): Promise<void> =>
  execute(db, ({ text }) => [
    `create table record (
      id ${text} primary key, owner_id ${text} not null, automation_id ${text} not null, project_id ${text},
      run_id ${text} not null, user_id ${text} not null, device_id ${text} not null, device_info ${text} not null,
      automation_name ${text} not null, cell bigint not null, tag ${text} not null,
      retention_group ${text} not null, saved bigint not null default 0, has_gap bigint not null,
      missing_captures bigint not null, capture_bytes bigint not null default 0, added_at bigint not null,
      error ${text})`,
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
      original_height bigint not null, primary key (record_id, screen_id))`,
    // Records and runs that are gone and whose captures and files may still be there.
    `create table capture_deletion (record_id ${text} primary key)`,
    `create table record_tally (
      list ${text} not null, node ${text} not null, is_split bigint not null default 0,
      n bigint not null default 0, ${cells.join(', ')}, primary key (list, node))`,
  ]);
