import type { Pool } from '@phalanx/protocol';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';

import { call, readAll } from '../api/call.ts';

/** The caller's saved selectors. */
export const poolsQuery = queryOptions({
  queryKey: ['pools'],
  queryFn: ({ signal }): Promise<Pool[]> =>
    readAll(async (cursor) => {
      const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
      const { pools, next_cursor: next } = await call('GET /api/v2/pools', { query }, { signal });
      return { rows: pools, next };
    }),
});

interface Selected {
  /** Undefined: no selector, or none that can be read. */
  readonly ids: ReadonlySet<string> | undefined;
  /** Why the service refuses the selector. */
  readonly problem: string | undefined;
}

/** States change, and selectors may ask for them. */
const refreshMs = 10_000;

/** The phones that a selector means, as the service says. */
export function useSelected(selector: string | undefined): Selected {
  const { data, error } = useQuery({
    queryKey: ['selected', selector],
    queryFn: async ({ signal }): Promise<ReadonlySet<string>> => {
      const devices = await readAll(async (cursor) => {
        const query = { limit: 1000, selector: selector ?? '', ...(cursor === undefined ? {} : { cursor }) };
        const page = await call('GET /api/v2/devices', { query }, { signal });
        return { rows: page.devices, next: page.next_cursor };
      });
      return new Set(devices.map((device) => device.device_id));
    },
    enabled: selector !== undefined,
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (selector === undefined) return { ids: undefined, problem: undefined };
  return error === null ? { ids: data, problem: undefined } : { ids: undefined, problem: error.message };
}
