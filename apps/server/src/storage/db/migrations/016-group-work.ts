import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { createTrigger, execute } from './001-schema/column-types.ts';

/** Due time of work that waits for something else than a time. */
const notDue = 9_007_199_254_740_991;

/** The grouping of records is work, which ends with its record. */
export const groupWork: Migration = {
  async up(db: Kysely<unknown>) {
    await execute(db, () => [
      `insert into work (kind, key, due_at, payload)
        select 'group records', record_id, case is_ready when 1 then added_at else ${notDue} end,
          '{"screen_id":"' || screen_id || '","commit_hash":' || coalesce('"' || commit_hash || '"', 'null') || '}'
        from record_grouping join record on record.id = record_id`,
      'drop table record_grouping',
      // Servers of before would look for this table.
      `update installation set needs = '016-group-work'`,
    ]);
    await createTrigger(db, {
      name: 'record_grouping_end',
      on: 'after delete on record',
      statement: `delete from work where kind = 'group records' and key = old.id`,
    });
  },
};
