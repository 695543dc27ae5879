import './styles/tokens.css';
import './styles/base.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider, QueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isPassing } from '@phalanx/client/transport';
import { router } from './router.tsx';
import { applyTheme } from './shell/theme.ts';

/** What was read stays shown while it is read again; changes come by the event stream. */
const queryClient = new QueryClient({
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

applyTheme();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
