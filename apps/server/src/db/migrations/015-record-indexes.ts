import type { Migration } from 'kysely/migration';

/** The records of a phone and of a run, in the order in which they are read. */
export const recordIndexes: Migration = {
  async up(db) {
    await db.schema.dropIndex('record_run').execute();
    for (const column of ['run_id', 'device_id']) {
      await db.schema
        .createIndex(`record_by_${column}`)
        .on('record')
        .columns([column, 'owner_id', 'cell', 'id'])
        .execute();
    }
  },
};
