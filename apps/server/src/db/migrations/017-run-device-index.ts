import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** A run is found by its phone when it has ended: a launch on a thousand phones would write to as many places of an index. */
export const runDeviceIndex: Migration = {
  async up(db) {
    await db.schema.dropIndex('run_device').execute();
    await sql`create index run_device_ended on run (device_id, id) where ended_at is not null`.execute(db);
  },
};
