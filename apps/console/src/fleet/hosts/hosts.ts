import { queryOptions, useQuery } from '@tanstack/react-query';

import { call } from '../../api/call.ts';

/** Query for the user's own hosts and those shared with them. */
export const hostsQuery = queryOptions({
  queryKey: ['hosts'],
  queryFn: async ({ signal }) =>
    (await call('GET /api/v2/hosts', { query: { limit: 1000 } }, { signal })).hosts,
});

/**
 * Returns why no phone is found, one sentence per reason: no host is connected, or the problems that connected hosts
 * report.
 */
export function useReasonsForNoPhones(): string[] {
  const { data: hosts } = useQuery(hostsQuery);
  if (hosts === undefined) return [];
  const connected = hosts.filter((host) => host.connected);
  if (connected.length === 0)
    return [
      'No host is connected. A host is the program next to the phones: “phalanx start” includes one, “phalanx host” starts one.',
    ];
  return connected.flatMap(({ name, problem }) => (problem === null ? [] : [`${name}: ${problem}`]));
}
