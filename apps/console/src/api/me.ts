import { queryOptions, useQuery } from '@tanstack/react-query';

import { call, type Reply, session } from './call.ts';

export type Me = Reply<'GET /api/v2/me'>;

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => {
    const me = await call('GET /api/v2/me', {}, { signal });
    session.begin();
    return me;
  },
  staleTime: 60_000,
});

/** The signed-in user. Below the shell there always is one. */
export function useMe(): Me | undefined {
  return useQuery(meQuery).data;
}

type Scope = Me['token']['scopes'][number];

/** Why this sign-in may not do something; undefined when it may. */
export function useMissingScope(scope: Scope): string | undefined {
  const me = useMe();
  return me?.token.scopes.includes(scope) === false
    ? `You are signed in with a token that does not have the scope “${scope}”.`
    : undefined;
}
