import { runRoutes, type TimeInput } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import { ApiError } from '../http/api-error.ts';
import { pageLimit, toPage } from '../http/page.ts';
import { addRoute } from '../http/route.ts';
import { parseTime } from '../http/time-input.ts';
import { runView } from './run-view.ts';
import type { RunStore } from './store.ts';

/** `GET /runs` · `GET /runs/:id` */
export function addRunRoutes(app: FastifyInstance, store: RunStore): void {
  addRoute(app, runRoutes.list, async ({ principal, query }) => {
    const limit = pageLimit(query);
    const rows = await store.list({
      userId: principal.userId,
      automationIds: principal.projectIds,
      deviceId: query.device_id,
      automationId: query.automation_id,
      status: query.status,
      createdAfter: timeOf(query.created_after, 'Query parameter created_after'),
      createdBefore: timeOf(query.created_before, 'Query parameter created_before'),
      cursor: query.cursor?.toLowerCase(),
      limit: limit + 1,
    });
    const { items, next_cursor } = toPage(rows, limit, ({ id }) => id);
    return { success: true, runs: items.map(runView), next_cursor };
  });

  addRoute(app, runRoutes.get, async ({ principal, params }) => {
    const row = await store.find(params.id.toLowerCase());
    if (row?.user_id !== principal.userId || principal.projectIds?.has(row.automation_id) === false)
      throw ApiError.of('run_not_found', { run_id: params.id });
    return { success: true, run: runView(row) };
  });
}

const timeOf = (input: TimeInput | undefined, field: string): number | undefined =>
  input === undefined ? undefined : parseTime(input, field);
