import { type RunDetail, type RunLauncher, runRoutes, type TimeInput } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { RunStore, LauncherStore } from './store.ts';
import type { RunAccess } from './run-access.ts';
import { type StoredRun, detailView, runView } from './stored-run.ts';
import { pageLimit, toPage } from '../../http/requests/replies/page.ts';
import { addRoute } from '../../http/requests/route.ts';
import { parseTime } from '../../http/requests/parse-time.ts';

interface RunRoutesOptions {
  store: RunStore;
  launchers: LauncherStore;
  access: RunAccess;
  /** Finds the records of a run, as visible to this user. */
  recordsOf: (run: Pick<StoredRun, 'id' | 'user_id'>) => Promise<Pick<RunDetail, 'records' | 'last_screen'>>;
}

/** `GET /runs` · `GET /runs/:id` · `GET /runs/:id/code` */
export function addRunRoutes(
  app: FastifyInstance,
  { store, launchers, access, recordsOf }: RunRoutesOptions,
): void {
  addRoute(app, runRoutes.list, async ({ principal, query }) => {
    const limit = pageLimit(query);
    const { userId } = principal;
    const filter = {
      userId,
      otherDeviceIds:
        query.device_id === undefined
          ? await access.listOtherDevicesForWork(userId)
          : await access.listNamedDevice(userId, query.device_id),
      automationIds: principal.projectIds,
      deviceId: query.device_id,
      automationId: query.automation_id,
      launchId: query.launch_id,
      launch: query.launch?.toLowerCase(),
      status: query.status,
      search: query.search,
      createdAfter: timeOf(query.created_after, 'Query parameter created_after'),
      createdBefore: timeOf(query.created_before, 'Query parameter created_before'),
      cursor: query.cursor,
      limit: limit + 1,
    };
    const [{ runs, searchedTo }, total] = await Promise.all([
      store.list(filter),
      query.total === 'true' ? store.count(filter) : null,
    ]);
    const { items, next_cursor } = toPage(runs, limit, ({ id }) => id);
    const by = await launchers.list(items.map(({ id }) => id));
    const listed = items.map((row) => ({
      ...runView(row),
      launched_by: by.get(row.id) ?? unknownLauncher(row),
    }));
    return { success: true, runs: listed, total, next_cursor: next_cursor ?? searchedTo };
  });

  addRoute(app, runRoutes.get, async ({ principal, params }) => {
    const row = await access.getReadable(
      await store.findDetail(params.id.toLowerCase()),
      principal,
      params.id,
    );
    const left = await recordsOf({ id: row.id, user_id: principal.userId });
    const by = (await launchers.list([row.id])).get(row.id) ?? unknownLauncher(row);
    return { success: true, run: { ...detailView(row, by), ...left } };
  });

  addRoute(app, runRoutes.code, async ({ principal, params }) => {
    const row = await access.getReadable(await store.find(params.id.toLowerCase()), principal, params.id);
    return { success: true, code: await store.findCode(row.id) };
  });
}

/** Returns the launcher of a run that was deleted meanwhile. */
const unknownLauncher = ({ user_id }: StoredRun): RunLauncher => ({
  user_id,
  user_name: null,
  token_name: null,
  job: null,
});

const timeOf = (input: TimeInput | undefined, field: string): number | undefined =>
  input === undefined ? undefined : parseTime(input, field);
