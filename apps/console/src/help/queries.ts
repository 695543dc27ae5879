import { queryOptions } from '@tanstack/react-query';

import { call } from '../api/call.ts';

/** The documentation is that of the version that runs, so it does not change while the page is open. */
const always = { staleTime: Infinity };

export const helpPagesQuery = queryOptions({
  ...always,
  queryKey: ['help'],
  queryFn: async ({ signal }) => (await call('GET /api/v2/help', {}, { signal })).pages,
});

export const helpPageQuery = (name: string) =>
  queryOptions({
    ...always,
    queryKey: ['help', 'page', name],
    queryFn: ({ signal }) => call('GET /api/v2/help/page', { query: { name } }, { signal }),
  });

export const helpSearchQuery = (query: string) =>
  queryOptions({
    ...always,
    queryKey: ['help', 'search', query],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/help/search', { query: { query } }, { signal })).results,
  });
