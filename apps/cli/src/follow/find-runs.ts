import { type ListedRun, runRoutes, type Run } from '@phalanx/protocol';

import type { ApiClient } from '../api-client.ts';
import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { isUuid } from '../launch/find-by-name.ts';

/** A part of an ID is looked for among so many, the newest. */
const searched = 1000;

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

/** The random end of an ID: runs that were launched together begin alike. */
export const shortRunId = (id: string): string => id.split('-').at(-1) ?? id;

/** The run whose ID `text` is, begins or ends. */
export async function getRunId(api: ApiClient, text: string): Promise<string> {
  const part = text.toLowerCase();
  if (isUuid(part)) return part;
  if (!/^[0-9a-f-]{4,36}$/.test(part)) throw usageError(`"${text}" is no run: "phalanx runs" lists them.`);
  const found: string[] = [];
  let count = 0;
  for await (const { run_id: id } of listRuns(api, {})) {
    if (id.startsWith(part) || id.endsWith(part)) found.push(id);
    if (++count === searched) break;
  }
  const [only] = found;
  if (only === undefined)
    throw new CommandError(
      exitCodes.refused,
      `None of your newest ${searched} runs has an ID that begins or ends with ${text}: "phalanx runs" lists them.`,
    );
  if (found.length === 1) return only;
  throw usageError(`Several runs begin or end with ${text}: ${found.join(', ')}.`);
}
