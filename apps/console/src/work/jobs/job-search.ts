import type { JobStatus } from '@phalanx/protocol';

import { taskStates } from './job.tsx';

/** Search parameters of a job's page. */
export interface JobSearch {
  /** State of the tasks on display. */
  state?: JobStatus;
  /** Number of the only task on display. */
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
