import { type ListedRun, runRoutes, type Run } from '@phalanx/protocol';

import type { ApiClient } from '../api-client.ts';

interface RunFilter {
  device_id?: string;
  automation_id?: string;
  status?: Run['status'];
  search?: string;
}

/** Newest first, page by page. */
export async function* listRuns(api: ApiClient, filter: RunFilter): AsyncGenerator<ListedRun> {
  for (let cursor: string | undefined; ;) {
    const query = { ...filter, ...(cursor === undefined ? {} : { cursor }) };
    const page = await api.call(runRoutes.list, { query });
    yield* page.runs;
    if (page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
}

/** The newest run of an automation on each of these devices, in their order. */
export async function findNewestRuns(
  api: ApiClient,
  automationId: string,
  deviceIds: readonly string[],
): Promise<Run[]> {
  const missing = new Set(deviceIds);
  const found: Run[] = [];
  for await (const run of listRuns(api, { automation_id: automationId })) {
    if (missing.delete(run.device_id)) found.push(run);
    if (missing.size === 0) break;
  }
  return found.sort((one, other) => deviceIds.indexOf(one.device_id) - deviceIds.indexOf(other.device_id));
}
