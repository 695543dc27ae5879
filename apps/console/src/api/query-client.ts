import { isPassing } from '@phalanx/client/transport';
import { QueryClient } from '@tanstack/react-query';

/** How often a page that can be seen reads again what it shows, so that in the end it shows what a reload would. */
const refreshMs = 15_000;
/** A list that was scrolled further is kept current by events alone: all its pages would be read each time. */
const maxRefreshedPages = 3;

/** For what never changes. */
export const unchanging = { staleTime: Infinity, refetchInterval: false } as const;

const countPages = (data: unknown): number =>
  typeof data === 'object' && data !== null && 'pages' in data && Array.isArray(data.pages)
    ? data.pages.length
    : 1;

/** Keeps shown what was read while it is read again. Events tell of changes at once where there are events. */
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
