import { queryOptions, useQuery } from '@tanstack/react-query';

import { call } from '../../api/call.ts';

/** The hosts of the user and those that are shared with them. */
export const hostsQuery = queryOptions({
  queryKey: ['hosts'],
  queryFn: async ({ signal }) =>
    (await call('GET /api/v2/hosts', { query: { limit: 1000 } }, { signal })).hosts,
});

/** Why no phone is found, in a sentence for each reason: no host is connected, or what the connected ones say. */
export function useReasonsForNoPhones(): string[] {
  const { data: hosts } = useQuery(hostsQuery);
  if (hosts === undefined) return [];
  const connected = hosts.filter((host) => host.connected);
  if (connected.length === 0)
    return [
      'No host is connected. A host is the program beside the phones: “phalanx start” has one, “phalanx host” is one.',
    ];
  return connected.flatMap(({ name, problem }) => (problem === null ? [] : [`${name}: ${problem}`]));
}
