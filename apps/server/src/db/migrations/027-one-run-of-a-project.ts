import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** A project runs once on a phone, whoever starts it there at the same moment. */
export const oneRunOfProject: Migration = {
  async up(db) {
    // A lost run that came back may have met a later one.
    await sql`update run set status = 'lost', error_code = 'lost', ended_at = created_at,
        error_message = 'A later run of the same project is on its device'
      where ended_at is null and launch_id is null and exists (
        select 1 from run as later where later.device_id = run.device_id and later.id > run.id
          and later.automation_id = run.automation_id and later.ended_at is null and later.launch_id is null)`.execute(
      db,
    );
    await sql`create unique index run_once on run (device_id, automation_id)
      where ended_at is null and launch_id is null`.execute(db);
  },
};
