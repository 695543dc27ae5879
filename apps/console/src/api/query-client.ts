import { isPassing } from '@phalanx/client/retry';
import { QueryClient } from '@tanstack/react-query';

/** Interval at which a visible page refetches its data, in ms, so that it eventually matches a reload. */
const refreshMs = 15_000;
/**
 * Maximum number of pages that a refetch covers. A longer list is updated by events alone, because a refetch would
 * read all of its pages.
 */
const maxRefreshedPages = 3;

/** Options of queries for immutable data. */
export const unchanging = { staleTime: Infinity, refetchInterval: false } as const;

const countPages = (data: unknown): number =>
  typeof data === 'object' && data !== null && 'pages' in data && Array.isArray(data.pages)
    ? data.pages.length
    : 1;

/** Keeps data on display during refetches. Events update data at once where they exist. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: refreshMs,
      gcTime: 5 * 60_000,
      networkMode: 'always',
      retry: (failures, error) => failures < 2 && isPassing(error),
      refetchOnWindowFocus: true,
      refetchInterval: ({ state }) => (countPages(state.data) > maxRefreshedPages ? false : refreshMs),
    },
    mutations: { networkMode: 'always' },
  },
});
