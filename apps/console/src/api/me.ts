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

/** Returns the signed-in user, who is always known below the shell. */
export function useMe(): Me | undefined {
  return useQuery(meQuery).data;
}

type Scope = Me['token']['scopes'][number];

/** Returns why the token of this sign-in does not permit an action; undefined if it does. */
export function useMissingScope(scope: Scope): string | undefined {
  const me = useMe();
  return me?.token.scopes.includes(scope) === false
    ? `You are signed in with a token that does not have the scope “${scope}”.`
    : undefined;
}
