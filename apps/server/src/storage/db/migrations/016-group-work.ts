import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { createTrigger, execute } from './001-schema/column-types.ts';

/** Due time of work that waits for something other than a time. */
const notDue = 9_007_199_254_740_991;

/**
 * Moves the grouping of records, and the marks that groups give them, into the work queue. Triggers delete the work
 * with its record and with the change of its group.
 */
export const groupWork: Migration = {
  async up(db: Kysely<unknown>) {
    await execute(db, () => [
      `insert into work (kind, key, due_at, payload)
        select 'group records', record_id, case is_ready when 1 then added_at else ${notDue} end,
          '{"screen_id":"' || screen_id || '","commit_hash":' || coalesce('"' || commit_hash || '"', 'null') || '}'
        from record_grouping join record on record.id = record_id`,
      'drop table record_grouping',
      `insert into work (kind, key, lane, due_at)
        select 'mark records of groups', group_move.id, owner_id, 0
        from group_move join record_group on record_group.id = group_id where is_unfinished = 1`,
      'drop index group_move_unfinished',
      'alter table group_move drop column is_unfinished',
      // Servers of earlier releases would query this table and this column.
      `update installation set needs = '016-group-work'`,
    ]);
    await createTrigger(db, {
      name: 'record_grouping_end',
      on: 'after delete on record',
      statement: `delete from work where kind = 'group records' and key = old.id`,
    });
    await createTrigger(db, {
      name: 'group_move_marking_end',
      on: 'after delete on group_move',
      statement: `delete from work where kind = 'mark records of groups' and key = old.id`,
    });
  },
};
