import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { createTrigger, execute } from './001-schema/column-types.ts';
import { adding, count, removing } from './001-schema/stored-bytes.ts';

const ofWork = { user: 'user_id', kind: 'work' } as const;
const counted = ['job', 'schedule', 'launch'] as const;

const lengthOf = (column: string): string => `coalesce(octet_length(${column}), 0)`;

/** Counts the bytes of what users submit to jobs, schedules and launches, and of the results. */
export const workBytes: Migration = {
  async up(db: Kysely<unknown>) {
    await execute(db, () =>
      counted.map((table) => `alter table ${table} add column bytes bigint not null default 0`),
    );
    for (const table of counted) await count(db, { ...ofWork, table, column: 'bytes' });
    for (const table of ['job', 'schedule']) await move(db, table);
    // Results count for their job and launch as they arrive.
    await createTrigger(db, {
      name: 'task_result_bytes',
      on: 'after update of result on task',
      statement: `update job set bytes = bytes + ${lengthOf('new.result')} - ${lengthOf('old.result')}
        where id = new.job_id`,
    });
    const ofLaunch = 'where id = (select launch from run where id = new.run_id)';
    await createTrigger(db, {
      name: 'run_result_bytes_begin',
      on: 'after insert on run_result',
      statement: `update launch set bytes = bytes + octet_length(new.json) ${ofLaunch}`,
    });
    await createTrigger(db, {
      name: 'run_result_bytes_change',
      on: 'after update of json on run_result',
      statement: `update launch set bytes = bytes + octet_length(new.json) - octet_length(old.json) ${ofLaunch}`,
    });
    await execute(db, () => [
      `update job set bytes = octet_length(parameters) + ${lengthOf('device_ids')} + coalesce((
        select sum(${lengthOf('input')} + ${lengthOf('result')}) from task where task.job_id = job.id), 0)`,
      'update schedule set bytes = octet_length(work)',
      `update launch set bytes = ${lengthOf('parameters')}
        + coalesce((select octet_length(code) from launch_code where launch_code.launch = launch.id), 0)
        + coalesce((select sum(octet_length(json)) from run_result
          join run on run.id = run_result.run_id where run.launch = launch.id), 0)`,
    ]);
  },
};

/** Moves the bytes of a job or a schedule to the user who takes it over. */
async function move(db: Kysely<unknown>, table: string): Promise<void> {
  const change = { on: `after update of user_id on ${table}`, when: 'old.user_id <> new.user_id' };
  await createTrigger(db, {
    ...change,
    name: `${table}_bytes_taken`,
    statement: adding(ofWork, 'old.bytes'),
  });
  await createTrigger(db, {
    ...change,
    name: `${table}_bytes_left`,
    statement: removing(ofWork, 'old.bytes'),
  });
}
