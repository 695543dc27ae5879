import {
  recordRoutes,
  type OutOfStepsRecord,
  type recordStatuses,
  type recordTypes,
} from '@phalanx/protocol';

import type { ApiClient } from '../../api-client.ts';
import { getAutomationId } from '../../launch/find-project.ts';

export interface RecordFilter {
  automation?: string;
  type?: (typeof recordTypes)[number];
  status?: (typeof recordStatuses)[number];
  tag?: string;
}

/** The matching records, newest first, one call each. */
export async function* readRecords(api: ApiClient, filter: RecordFilter): AsyncGenerator<OutOfStepsRecord> {
  const { automation, type, status, tag } = filter;
  const query = {
    ...(automation === undefined ? {} : { automation_id: await getAutomationId(api, automation) }),
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

/** Throws the server's refusal when there is no such record. */
export async function getRecord(api: ApiClient, id: string): Promise<OutOfStepsRecord> {
  const { result } = await api.call(recordRoutes.list, { query: { cursor: id } });
  if (result === null) throw new Error(`the server gave no record for ${id}`);
  return result;
}
