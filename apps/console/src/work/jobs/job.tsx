import type { Job, JobStatus, Schedule, Task } from '@phalanx/protocol';
import { anyPhone } from '@phalanx/protocol';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import { Mark, type MarkLook } from '../../parts/mark.tsx';
import { readAll } from '@phalanx/client/read-all';
import { call } from '../../api/call.ts';

const looks: Record<Job['status'], MarkLook> = {
  waiting: { tone: 'waiting', glyph: '◌', word: 'waiting' },
  running: { tone: 'busy', glyph: '▶', word: 'running' },
  completed: { tone: 'ready', glyph: '✓', word: 'completed' },
  failed: { tone: 'broken', glyph: '✕', word: 'failed' },
  cancelled: { tone: 'offline', glyph: '■', word: 'cancelled' },
};

export const taskStates = [
  'waiting',
  'running',
  'completed',
  'failed',
  'cancelled',
] as const satisfies readonly JobStatus[];

/** Status of a job or of one of its tasks. */
export const JobStatusMark = ({ status }: Pick<Job, 'status'>) => <Mark {...looks[status]} />;

/** Describes the tasks of a job, such as `3 waiting, 2 running`. */
export const countsText = ({ tasks }: Pick<Job, 'tasks'>): string =>
  Object.entries(tasks)
    .flatMap(([word, count]) => (count === 0 ? [] : [`${count.toLocaleString('en')} ${word}`]))
    .join(', ');

export function phonesText({ selector, device_ids: ids }: Pick<Job, 'selector' | 'device_ids'>): string {
  if (selector !== null) return selector === anyPhone ? 'any phone' : selector;
  return ids?.length === 1 ? '1 phone' : `${ids?.length ?? 0} phones`;
}

/** Refetch interval in ms, because no events report jobs and schedules. */
const refreshMs = 3000;
const schedulesRefreshMs = 10_000;
const shownJobs = 200;

/** Query for the newest jobs. */
export const jobsQuery = queryOptions({
  queryKey: ['jobs'],
  queryFn: async ({ signal }): Promise<Job[]> =>
    (await call('GET /api/v2/jobs', { query: { limit: shownJobs } }, { signal })).jobs,
  refetchInterval: refreshMs,
});

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['jobs', id],
    queryFn: async ({ signal }): Promise<Job> =>
      (await call('GET /api/v2/jobs/:id', { params: { id } }, { signal })).job,
    refetchInterval: ({ state }) => (state.data?.ended_at === null ? refreshMs : false),
  });

/** Query for all tasks, in the order of the inputs. Refetched once after the job has ended. */
export const tasksQuery = (job: Job) =>
  queryOptions({
    queryKey: ['jobs', job.id, 'tasks', job.ended_at],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }): Promise<Task[]> =>
      readAll(
        (query) => call('GET /api/v2/jobs/:id/tasks', { params: { id: job.id }, query }, { signal }),
        ({ tasks }) => tasks,
      ),
    refetchInterval: job.ended_at === null ? refreshMs : false,
  });

export const schedulesQuery = queryOptions({
  queryKey: ['schedules'],
  queryFn: ({ signal }): Promise<Schedule[]> =>
    readAll(
      (query) => call('GET /api/v2/schedules', { query }, { signal }),
      ({ schedules }) => schedules,
    ),
  refetchInterval: schedulesRefreshMs,
});

export const turnsQuery = (id: string) =>
  queryOptions({
    queryKey: ['schedules', id, 'turns'],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/schedules/:id/turns', { params: { id }, query: { limit: 50 } }, { signal }))
        .turns,
    refetchInterval: schedulesRefreshMs,
  });
