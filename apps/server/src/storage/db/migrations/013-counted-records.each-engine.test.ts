import { recordStatuses, recordTypes } from '@phalanx/protocol';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';

import { engines, openTestDatabase } from '../../../testing/engines/test-database.ts';
import { countedRecords } from './013-counted-records.ts';

/** Restores the table of records of the previous release. */
const undo = [
  ...['owner', 'automation', 'device', 'run'].map((name) => `drop index record_by_${name}`),
  ...['type', 'status', 'is_partial'].map((column) => `alter table record drop column ${column}`),
  'alter table record add column cell bigint not null default 0',
  ...['owner_id', 'owner_id, tag', 'owner_id, automation_id', 'owner_id, automation_id, tag'].map(
    (columns, number) => `create index record_list_${number} on record (${columns}, cell, id)`,
  ),
  ...['run_id', 'device_id'].map(
    (column) => `create index record_by_${column} on record (${column}, owner_id, cell, id)`,
  ),
  'create table record_tally (list text not null, node text not null, primary key (list, node))',
];

/** Combinations in the order of their numbers in the previous release. */
const kinds = recordTypes.flatMap((type) =>
  recordStatuses.flatMap((status) => [0, 1].map((isPartial) => ({ type, status, is_partial: isPartial }))),
);

describe.each(engines)('records of the release before, in %s,', (engine) => {
  it('keep their type, status and completeness, and their screens', async () => {
    const db = await openTestDatabase(engine);
    for (const statement of undo) await sql.raw(statement).execute(db);
    for (const cell of kinds.keys()) {
      const id = `record-${cell}`;
      await sql`insert into record (id, owner_id, automation_id, run_id, user_id, device_id, device_info,
        automation_name, cell, tag, retention_group, has_gap, missing_captures, added_at)
        values (${id}, 'o', 'a', 'r', 'o', 'd', '{}', '', ${cell}, 'default', '', 0, 0, 0)`.execute(db);
      await sql`insert into record_screen (record_id, position, screen_id, next_stage, screen_state, max_steps,
        captured_at, tree, screenshot, width, height, original_width, original_height)
        values (${id}, 0, 's', '', '', 0, 0, 'none', 'none', 0, 0, 0, 0)`.execute(db);
    }
    await countedRecords.up(db);
    for (const [cell, kind] of kinds.entries()) {
      const record = db.selectFrom('record').select(['type', 'status', 'is_partial']);
      expect(await record.where('id', '=', `record-${cell}`).executeTakeFirst()).toEqual(kind);
    }
    expect(await db.selectFrom('record_screen').select('record_id').execute()).toHaveLength(kinds.length);
    expect((await db.introspection.getTables()).map(({ name }) => name)).not.toContain('record_tally');
  });
});
