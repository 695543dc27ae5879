import type { ApiClient } from '@phalanx/client/api-client';
import { readPages } from '@phalanx/client/read-all';
import { type ListedRun, runRoutes, type Run } from '@phalanx/protocol';

import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { isUuid } from '../launch/find-by-name.ts';

/** Number of newest runs that are searched for a part of an ID. */
const searched = 1000;

interface RunFilter {
  device_id?: string;
  automation_id?: string;
  status?: Run['status'];
  search?: string;
}

/** Yields runs, newest first, and reads them page by page. */
export async function* listRuns(api: ApiClient, filter: RunFilter): AsyncGenerator<ListedRun> {
  const found = readPages((start) => api.call(runRoutes.list, { query: { ...filter, ...start } }));
  for await (const { runs } of found) yield* runs;
}

/** Returns the newest run of an automation on each of these devices, in their order. */
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

/** Returns the random end of an ID, because the IDs of runs that were launched together share their beginning. */
export const shortRunId = (id: string): string => id.split('-').at(-1) ?? id;

/** Returns the ID of the run whose ID is, begins with or ends with `text`. */
export async function getRunId(api: ApiClient, text: string): Promise<string> {
  const part = text.toLowerCase();
  if (isUuid(part)) return part;
  if (!/^[0-9a-f-]{4,36}$/.test(part))
    throw usageError(`"${text}" is not a run ID: "phalanx runs" lists the runs.`);
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
      `None of your newest ${searched} runs has an ID that begins or ends with ${text}: "phalanx runs" lists the runs.`,
    );
  if (found.length === 1) return only;
  throw usageError(`Several runs begin or end with ${text}: ${found.join(', ')}.`);
}
