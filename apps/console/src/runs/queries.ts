import type { ListedRun, Run } from '@phalanx/protocol';
import { infiniteQueryOptions, keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';

import { call } from '../api/call.ts';
import { timeSince } from '../parts/time.tsx';
import type { RunsSearch } from './runs-search.ts';

const pageSize = 100;

interface RunsPage {
  runs: ListedRun[];
  /** Of the first page. */
  total: { runs: number; or_more: boolean } | null;
  next_cursor: string | null;
}

export const runsQuery = ({ status, device, automation, since, q }: RunsSearch) =>
  infiniteQueryOptions({
    queryKey: ['runs', { status, device, automation, since, q }],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }): Promise<RunsPage> => {
      const query = {
        limit: pageSize,
        ...(status === undefined ? {} : { status }),
        ...(device === undefined ? {} : { device_id: device }),
        ...(automation === undefined ? {} : { automation_id: automation }),
        ...(q === undefined ? {} : { search: q }),
        ...(since === undefined ? {} : { created_after: timeSince(since) }),
        ...(pageParam === '' ? { total: 'true' as const } : { cursor: pageParam }),
      };
      return call('GET /api/v2/runs', { query }, { signal });
    },
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });

/** Whether the caller sees any run. */
export const hasRunQuery = queryOptions({
  queryKey: ['runs', 'first'],
  queryFn: ({ signal }) => call('GET /api/v2/runs', { query: { limit: 1 } }, { signal }),
  select: ({ runs }) => runs.length > 0,
});

const noRuns = new Map<string, Run>();
const lastOf = ({ runs }: RunsPage): ReadonlyMap<string, Run> =>
  new Map(runs.toReversed().map((run) => [run.automation_id, run]));

/** The newest run of each project, as far as it is one of the newest hundred. */
export const useLastRuns = (): ReadonlyMap<string, Run> =>
  useQuery({
    queryKey: ['runs', 'last'],
    queryFn: ({ signal }): Promise<RunsPage> =>
      call('GET /api/v2/runs', { query: { limit: pageSize } }, { signal }),
    select: lastOf,
  }).data ?? noRuns;

/** The runs that one request started, as many as a page shows. */
export const launchQuery = (launch: string) =>
  queryOptions({
    queryKey: ['runs', 'launch', launch],
    queryFn: ({ signal }): Promise<RunsPage> =>
      call('GET /api/v2/runs', { query: { launch, limit: pageSize } }, { signal }),
  });

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ['run', runId],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/runs/:id', { params: { id: runId } }, { signal })).run,
  });

/** The direct code that a run has executed, which never changes; null when it is not kept. */
export const runCodeQuery = (runId: string) =>
  queryOptions({
    queryKey: ['run code', runId],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/runs/:id/code', { params: { id: runId } }, { signal })).code,
  });

const filesPollMs = 5000;

/** While the run goes on, it may attach more. */
export const runFilesQuery = (runId: string, isActive: boolean) =>
  queryOptions({
    queryKey: ['run', runId, 'files', isActive],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/runs/:id/files', { params: { id: runId } }, { signal })).files,
    refetchInterval: isActive ? filesPollMs : false,
    placeholderData: keepPreviousData,
  });
