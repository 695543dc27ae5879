import type { RunLauncher } from '@phalanx/protocol';

import type { Db } from '../db/database.ts';
import { textsIn } from '../db/rows.ts';

export type LauncherStore = ReturnType<typeof createLauncherStore>;

/** Who launched runs. */
export function createLauncherStore(db: Db) {
  return {
    /** By the IDs of the runs. */
    async list(runIds: readonly string[]): Promise<ReadonlyMap<string, RunLauncher>> {
      const rows = await db
        .selectFrom('run')
        .innerJoin('launch', 'launch.id', 'run.launch')
        .leftJoin('user', 'user.id', 'run.user_id')
        .leftJoin('job', (join) =>
          join.on('job.id', '=', (eb) =>
            // A run may have thousands of tasks: the index gives the first one.
            eb
              .selectFrom('task_attempt')
              .innerJoin('task', 'task.id', 'task_attempt.task_id')
              .select('task.job_id')
              .whereRef('task_attempt.run_id', '=', 'run.id')
              .orderBy('task_attempt.began_at')
              .limit(1),
          ),
        )
        .leftJoin('schedule', 'schedule.id', 'job.schedule_id')
        .select(['run.id', 'run.user_id', 'user.name as user_name', 'launch.token_name'])
        .select(['job.id as job_id', 'job.schedule_id', 'schedule.name as schedule_name'])
        .where('run.id', 'in', textsIn(db, runIds))
        .execute();
      return new Map(
        rows.map(({ id, user_id, user_name, token_name, job_id, schedule_id, schedule_name }) => [
          id,
          {
            ...{ user_id, user_name, token_name },
            job: job_id === null ? null : { job_id, schedule_id, schedule_name },
          },
        ]),
      );
    },
  };
}
