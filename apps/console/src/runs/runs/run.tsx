import type { Run, ListedRun, RunDetail } from '@phalanx/protocol';
import { infiniteQueryOptions, keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';

import { Mark, type MarkLook } from '../../parts/mark.tsx';
import { sinceOf, type Since, timeSince } from '../../parts/time.tsx';
import { call } from '../../api/call.ts';
import { unchanging } from '../../api/query-client.ts';

export type RunStatus = Run['status'];

export const runLooks: Record<RunStatus, MarkLook> = {
  starting: { tone: 'waiting', glyph: '◌', word: 'starting' },
  running: { tone: 'busy', glyph: '▶', word: 'running' },
  completed: { tone: 'ready', glyph: '✓', word: 'completed' },
  failed: { tone: 'broken', glyph: '✕', word: 'failed' },
  stopped: { tone: 'offline', glyph: '■', word: 'stopped' },
  timed_out: { tone: 'act', glyph: '◷', word: 'timed out' },
  lost: { tone: 'act', glyph: '?', word: 'lost' },
};

const outOfSteps: MarkLook = { tone: 'act', glyph: '▲', word: 'out of steps' };

/** Status mark of a run. A completed run may have run out of steps. */
export const RunStatusMark = ({ run }: { run: Pick<Run, 'status' | 'outcome'> }) => (
  <Mark
    {...(run.status === 'completed' && run.outcome === 'out_of_steps' ? outOfSteps : runLooks[run.status])}
  />
);

export const isActive = ({ status }: Pick<Run, 'status'>): boolean =>
  status === 'starting' || status === 'running';

/** Search parameters of the list of runs. */
export interface RunsSearch {
  status?: RunStatus;
  device?: string;
  automation?: string;
  since?: Since;
  /** Text in the name, the ID or the error. */
  q?: string;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export function runsSearch(given: Record<string, unknown>): RunsSearch {
  const status = Object.keys(runLooks).find((one): one is RunStatus => one === given['status']);
  const since = sinceOf(given['since']);
  const [device, automation, q] = [textOf(given['device']), textOf(given['automation']), textOf(given['q'])];
  return {
    ...(status === undefined ? {} : { status }),
    ...(device === undefined ? {} : { device }),
    ...(automation === undefined ? {} : { automation }),
    ...(since === undefined ? {} : { since }),
    ...(q === undefined ? {} : { q: q.slice(0, 200) }),
  };
}

/** Search parameters of a run's page. */
interface RunSearch {
  step?: number;
}

export const runSearch = ({ step }: Record<string, unknown>): RunSearch =>
  typeof step === 'number' && step > 0 ? { step } : {};

const pageSize = 100;

interface RunsPage {
  runs: ListedRun[];
  /** Total number of matches, which comes with the first page. */
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

/** Query for whether the caller has any run. */
export const hasRunQuery = queryOptions({
  queryKey: ['runs', 'first'],
  queryFn: ({ signal }) => call('GET /api/v2/runs', { query: { limit: 1 } }, { signal }),
  select: ({ runs }) => runs.length > 0,
});

const lastOf = ({ runs }: RunsPage): ReadonlyMap<string, Run> =>
  new Map(runs.toReversed().map((run) => [run.automation_id, run]));

/** Returns the newest run of each project, among the newest hundred runs. */
export const useLastRuns = (): ReadonlyMap<string, Run> | undefined =>
  useQuery({
    queryKey: ['runs', 'last'],
    queryFn: ({ signal }): Promise<RunsPage> =>
      call('GET /api/v2/runs', { query: { limit: pageSize } }, { signal }),
    select: lastOf,
  }).data;

/**
 * Query for the newest run of a project that has none among the newest hundred; null if there is none. Its key
 * differs from the key of lists, so that new runs, which are among the newest hundred anyway, do not invalidate it.
 */
export const lastRunQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['last run', projectId],
    queryFn: async ({ signal }): Promise<Run | null> => {
      const query = { automation_id: projectId, limit: 1 };
      return (await call('GET /api/v2/runs', { query }, { signal })).runs[0] ?? null;
    },
  });

/** Query for the runs of a launch, limited to one page. */
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

/** Query for the direct code of a run, which is immutable; null if it is not kept. */
export const runCodeQuery = (runId: string) =>
  queryOptions({
    queryKey: ['run code', runId],
    ...unchanging,
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/runs/:id/code', { params: { id: runId } }, { signal })).code,
  });

const filesPollMs = 5000;

/** Query for the files of a run. An active run may attach more. */
export const runFilesQuery = (runId: string, mayAttach: boolean) =>
  queryOptions({
    queryKey: ['run', runId, 'files', mayAttach],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/runs/:id/files', { params: { id: runId } }, { signal })).files,
    refetchInterval: mayAttach ? filesPollMs : false,
    placeholderData: keepPreviousData,
  });

export type RecordScreen = NonNullable<RunDetail['last_screen']>['screen'];

/** Stage of a run and state of its last screen. */
export const StageAndState = ({ screen: { nextStage, screenState } }: { screen: RecordScreen }) => (
  <>
    {nextStage !== '' && (
      <>
        Stage <b>{nextStage}</b>,{' '}
      </>
    )}
    last state <b>{screenState}</b>
  </>
);

/** Stage and state for a row of a list, which has no records of the run and little space. */
export function StageAndStateOfRun({ runId }: { runId: string }) {
  const { data: run } = useQuery(runQuery(runId));
  if (run === undefined || run.last_screen === null) return null;
  const { screen } = run.last_screen;
  return (
    <span title={`Stage ${screen.nextStage}, last state ${screen.screenState}`}>
      <StageAndState screen={screen} />
    </span>
  );
}
