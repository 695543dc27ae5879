import { type RunDetail, runRoutes, type TimeInput } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import { pageLimit, toPage } from '../http/page.ts';
import { addRoute } from '../http/route.ts';
import { parseTime } from '../http/time-input.ts';
import { detailView, runView } from './run-view.ts';
import { requireVisible } from './visible-run.ts';
import type { StoredRun } from './stored-run.ts';
import type { RunStore } from './store.ts';

interface RunRoutesOptions {
  store: RunStore;
  /** The records that a run has left, as its launcher may see them. */
  recordsOf: (run: StoredRun) => Promise<Pick<RunDetail, 'records' | 'last_screen'>>;
}

/** `GET /runs` · `GET /runs/:id` */
export function addRunRoutes(app: FastifyInstance, { store, recordsOf }: RunRoutesOptions): void {
  addRoute(app, runRoutes.list, async ({ principal, query }) => {
    const limit = pageLimit(query);
    const rows = await store.list({
      userId: principal.userId,
      automationIds: principal.projectIds,
      deviceId: query.device_id,
      automationId: query.automation_id,
      launchId: query.launch_id,
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
    const row = requireVisible(await store.findDetail(params.id.toLowerCase()), principal, params.id);
    return { success: true, run: { ...detailView(row), ...(await recordsOf(row)) } };
  });
}

const timeOf = (input: TimeInput | undefined, field: string): number | undefined =>
  input === undefined ? undefined : parseTime(input, field);
