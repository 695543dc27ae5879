import { isPassing } from '@phalanx/client/transport';
import { QueryClient } from '@tanstack/react-query';

/** What was read stays shown while it is read again; changes come by the event stream. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      gcTime: 5 * 60_000,
      networkMode: 'always',
      retry: (failures, error) => failures < 2 && isPassing(error),
      refetchOnWindowFocus: true,
    },
    mutations: { networkMode: 'always' },
  },
});
