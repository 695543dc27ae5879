import type { ApiClient } from '@phalanx/client/api-client';
import {
  recordRoutes,
  type OutOfStepsRecord,
  type recordStatuses,
  type recordTypes,
} from '@phalanx/protocol';

import { CommandError, exitCodes, usageError } from '../../../exit-codes.ts';
import { getRunId } from '../../../follow/find-runs.ts';
import { deviceIdOf, listDevices, getAutomationId, isUuid } from '../../../launch/find-by-name.ts';

interface RecordFilter {
  automation?: string;
  device?: string;
  run?: string;
  type?: (typeof recordTypes)[number];
  status?: (typeof recordStatuses)[number];
  tag?: string;
}

/** Yields the matching records, newest first, with one call for each. */
export async function* readRecords(api: ApiClient, filter: RecordFilter): AsyncGenerator<OutOfStepsRecord> {
  const { automation, device, run, type, status, tag } = filter;
  const query = {
    ...(automation === undefined ? {} : { automation_id: await getAutomationId(api, automation) }),
    ...(device === undefined ? {} : { device_id: deviceIdOf(await listDevices(api), device) }),
    ...(run === undefined ? {} : { run_id: await getRunId(api, run) }),
    ...(type === undefined ? {} : { type }),
    ...(status === undefined ? {} : { status }),
    ...(tag === undefined ? {} : { tag }),
  };
  for (let older: string | undefined; ;) {
    const page = { ...query, ...(older === undefined ? {} : { before_cursor: older }) };
    const { result } = await api.call(recordRoutes.list, { query: page });
    if (result === null) return;
    yield result;
    older = result.out_of_steps_id;
  }
}

/** Returns the record whose ID is or begins with `text`. Throws the server's refusal if the record does not exist. */
export async function getRecord(api: ApiClient, text: string): Promise<OutOfStepsRecord> {
  const id = await getRecordId(api, text);
  const { result } = await api.call(recordRoutes.list, { query: { cursor: id } });
  if (result === null) throw new Error(`the server gave no record for ${id}`);
  return result;
}

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Returns the first ID after all IDs with this beginning. */
function idAfter(beginning: string): string {
  const last = `${beginning}${lastId.slice(beginning.length)}`;
  if (last === lastId) return last;
  const digits = (BigInt(`0x${last.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Finds a record by the beginning of its ID. IDs are ordered by creation, so IDs with one beginning are adjacent. */
export async function getRecordId(api: ApiClient, text: string): Promise<string> {
  const start = text.toLowerCase();
  if (isUuid(start)) return start;
  if (!/^[0-9a-f-]{4,35}$/.test(start))
    throw usageError(`"${text}" is not a record ID: "phalanx records list" lists the records.`);
  const found: string[] = [];
  let cursor = idAfter(start);
  while (found.length < 2) {
    const { result } = await api.call(recordRoutes.list, { query: { before_cursor: cursor } });
    if (result === null || !result.out_of_steps_id.startsWith(start)) break;
    cursor = result.out_of_steps_id;
    found.push(cursor);
  }
  const [only] = found;
  if (only === undefined)
    throw new CommandError(
      exitCodes.refused,
      `No record begins with ${text}: "phalanx records list" lists the records.`,
    );
  if (found.length === 1) return only;
  throw usageError(
    `Several records begin with ${text}, such as ${found.join(' and ')}: pass more characters of the ID.`,
  );
}
