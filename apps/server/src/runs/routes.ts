import { runRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import { ApiError } from '../http/api-error.ts';
import { addRoute } from '../http/route.ts';
import { runView } from './run-view.ts';
import type { RunStore } from './store.ts';

const pageSize = 100;

/** `GET /runs` · `GET /runs/:id` */
export function addRunRoutes(app: FastifyInstance, store: RunStore): void {
  addRoute(app, runRoutes.list, async ({ principal, query }) => {
    const rows = await store.list({
      userId: principal.userId,
      automationIds: principal.projectIds,
      deviceId: query.device_id,
      automationId: query.automation_id,
      status: query.status,
      cursor: query.cursor?.toLowerCase(),
      limit: pageSize + 1,
    });
    const runs = rows.slice(0, pageSize).map(runView);
    const nextCursor = rows.length > pageSize ? (runs.at(-1)?.run_id ?? null) : null;
    return { success: true, runs, next_cursor: nextCursor };
  });

  addRoute(app, runRoutes.get, async ({ principal, params }) => {
    const row = await store.find(params.id.toLowerCase());
    if (row?.user_id !== principal.userId || principal.projectIds?.has(row.automation_id) === false)
      throw ApiError.of('run_not_found', { run_id: params.id });
    return { success: true, run: runView(row) };
  });
}
