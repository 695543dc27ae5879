import type { Webhook, WebhookDelivery } from '@phalanx/protocol';
import { queryOptions } from '@tanstack/react-query';

import { call } from '../api/call.ts';
import { readAll } from '../api/read-all.ts';

/** The service has no events of deliveries. */
const refreshMs = 3000;
const shownDeliveries = 100;

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: ({ signal }): Promise<Webhook[]> =>
    readAll(async (cursor) => {
      const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
      const page = await call('GET /api/v2/webhooks', { query }, { signal });
      return { rows: page.webhooks, next: page.next_cursor };
    }),
  refetchInterval: refreshMs,
});

/** The newest ones. */
export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', id, 'deliveries'],
    queryFn: async ({ signal }): Promise<WebhookDelivery[]> => {
      const input = { params: { id }, query: { limit: shownDeliveries } };
      return (await call('GET /api/v2/webhooks/:id/deliveries', input, { signal })).deliveries;
    },
    refetchInterval: refreshMs,
  });
