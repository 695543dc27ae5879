import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { createTrigger, execute } from './001-schema/column-types.ts';

/** Moves the next turn of a schedule into the work queue. It is deleted with the schedule. */
export const scheduleWork: Migration = {
  async up(db: Kysely<unknown>) {
    await execute(db, () => [
      'update schedule set queued_at = null where paused = 1',
      `insert into work (kind, key, lane, due_at, payload)
        select 'make scheduled jobs', id, user_id, case when queued_at is null then due_at else 0 end,
          coalesce('{"planned_at":' || planned_at || ',"due_at":' || due_at || '}', 'null')
        from schedule where paused = 0 and (due_at is not null or queued_at is not null)`,
      'drop index schedule_due',
      'drop index schedule_queued',
      'alter table schedule drop column planned_at',
      'alter table schedule drop column due_at',
      // Servers of earlier releases would query these columns.
      `update installation set needs = '017-schedule-work'`,
    ]);
    await createTrigger(db, {
      name: 'schedule_turns_end',
      on: 'after delete on schedule',
      statement: `delete from work where kind = 'make scheduled jobs' and key = old.id`,
    });
  },
};
