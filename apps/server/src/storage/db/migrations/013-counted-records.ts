import type { Migration } from 'kysely/migration';

import { execute } from './001-schema/column-types.ts';

/** Columns that filter lists of records. Counting with an index that contains them does not read the records. */
const filters = 'id, status, type, is_partial, tag';

/**
 * Counts lists of records in their indexes, and gives a record one column per filter. Replaces the tallies and the
 * single number for three filters.
 */
export const countedRecords: Migration = {
  async up(db) {
    await execute(db, ({ text }) => [
      'drop table record_tally',
      ...[0, 1, 2, 3].map((number) => `drop index record_list_${number}`),
      'drop index record_by_run_id',
      'drop index record_by_device_id',
      `alter table record add column type ${text} not null default ''`,
      `alter table record add column status ${text} not null default ''`,
      'alter table record add column is_partial bigint not null default 0',
      `update record set
        type = case cell / 6 when 0 then 'outOfSteps' when 1 then 'timeout' when 2 then 'debug' else 'crash' end,
        status = case cell % 6 / 2 when 0 then 'pending' when 1 then 'solved' else 'skipped' end,
        is_partial = cell % 2`,
      'alter table record drop column cell',
      `create index record_by_owner on record (owner_id, ${filters})`,
      `create index record_by_automation on record (owner_id, automation_id, ${filters}, device_id)`,
      `create index record_by_device on record (device_id, owner_id, ${filters})`,
      'create index record_by_run on record (run_id, owner_id, id)',
    ]);
  },
};
