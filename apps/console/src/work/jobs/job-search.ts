import type { JobStatus } from '@phalanx/protocol';

import { taskStates } from './job.tsx';

/** Search of the address of a job's page. */
export interface JobSearch {
  /** Only tasks in this state. */
  state?: JobStatus;
  /** Only the task with this number. */
  task?: number;
}

export function jobSearch(given: Record<string, unknown>): JobSearch {
  const state = taskStates.find((one) => one === given['state']);
  const task = given['task'];
  return {
    ...(state === undefined ? {} : { state }),
    ...(typeof task === 'number' && task > 0 ? { task } : {}),
  };
}
