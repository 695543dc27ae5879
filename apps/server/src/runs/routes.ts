import { type RunDetail, runRoutes, type TimeInput } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import { pageLimit, toPage } from '../http/page.ts';
import { addRoute } from '../http/route.ts';
import { parseTime } from '../http/time-input.ts';
import { detailView, runView, type StoredRun } from './stored-run.ts';
import type { RunAccess } from './run-access.ts';
import type { RunStore } from './store.ts';

interface RunRoutesOptions {
  store: RunStore;
  access: RunAccess;
  /** The records that a run has left, as this user may see them. */
  recordsOf: (run: Pick<StoredRun, 'id' | 'user_id'>) => Promise<Pick<RunDetail, 'records' | 'last_screen'>>;
}

/** `GET /runs` · `GET /runs/:id` · `GET /runs/:id/code` */
export function addRunRoutes(app: FastifyInstance, { store, access, recordsOf }: RunRoutesOptions): void {
  addRoute(app, runRoutes.list, async ({ principal, query }) => {
    const limit = pageLimit(query);
    const { runs, searchedTo } = await store.list({
      userId: principal.userId,
      otherDeviceIds: await access.listOtherDevices(principal.userId),
      automationIds: principal.projectIds,
      deviceId: query.device_id,
      automationId: query.automation_id,
      launchId: query.launch_id,
      launch: query.launch?.toLowerCase(),
      status: query.status,
      search: query.search,
      createdAfter: timeOf(query.created_after, 'Query parameter created_after'),
      createdBefore: timeOf(query.created_before, 'Query parameter created_before'),
      cursor: query.cursor?.toLowerCase(),
      limit: limit + 1,
    });
    const { items, next_cursor } = toPage(runs, limit, ({ id }) => id);
    return { success: true, runs: items.map(runView), next_cursor: next_cursor ?? searchedTo };
  });

  addRoute(app, runRoutes.get, async ({ principal, params }) => {
    const row = await access.getReadable(
      await store.findDetail(params.id.toLowerCase()),
      principal,
      params.id,
    );
    const left = await recordsOf({ id: row.id, user_id: principal.userId });
    return { success: true, run: { ...detailView(row), ...left } };
  });

  addRoute(app, runRoutes.code, async ({ principal, params }) => {
    const row = await access.getReadable(await store.find(params.id.toLowerCase()), principal, params.id);
    return { success: true, code: await store.findCode(row.id) };
  });
}

const timeOf = (input: TimeInput | undefined, field: string): number | undefined =>
  input === undefined ? undefined : parseTime(input, field);
