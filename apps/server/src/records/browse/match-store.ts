import { sql, type RawBuilder } from 'kysely';

import type { Db } from '../../db/database.ts';
import type { StoredRecord } from '../stored-record.ts';
import type { RecordList } from './record-list.ts';
import { countNewer, listConditions } from './tally-store.ts';

/** What the lists are narrowed to beyond what has counts of its own. */
export interface Narrowing {
  readonly deviceId: string | undefined;
  readonly runId: string | undefined;
  /** IDs hold the time: the lowest that matches, and the lowest that is too new. They need not exist. */
  readonly fromId: string | undefined;
  readonly untilId: string | undefined;
}

interface Counted {
  readonly lists: readonly RecordList[];
  readonly cells: readonly number[];
  readonly narrowing: Narrowing;
}

export interface Counts {
  total: number;
  /** Of the matches, those that are newer than an ID. */
  newer: number;
}

export function narrowConditions({ deviceId, runId, fromId, untilId }: Narrowing): RawBuilder<unknown> {
  const conditions: RawBuilder<unknown>[] = [];
  if (deviceId !== undefined) conditions.push(sql`and device_id = ${deviceId}`);
  if (runId !== undefined) conditions.push(sql`and run_id = ${runId}`);
  if (fromId !== undefined) conditions.push(sql`and id >= ${fromId}`);
  if (untilId !== undefined) conditions.push(sql`and id < ${untilId}`);
  return sql.join(conditions, sql` `);
}

export const isWithin = (record: StoredRecord, { deviceId, runId, fromId, untilId }: Narrowing): boolean =>
  (deviceId ?? record.device_id) === record.device_id &&
  (runId ?? record.run_id) === record.run_id &&
  (fromId === undefined || record.id >= fromId) &&
  (untilId === undefined || record.id < untilId);

/** What is of one phone or one run is counted in its index; everything else is known from the tallies. */
export const countMatches = (db: Db, counted: Counted, id: string): Promise<Counts> =>
  counted.narrowing.deviceId === undefined && counted.narrowing.runId === undefined
    ? countByTallies(db, counted, id)
    : countRows(db, counted, id);

async function countByTallies(db: Db, { lists, cells, narrowing }: Counted, id: string): Promise<Counts> {
  const { fromId, untilId } = narrowing;
  const all = await countNewer(db, lists, { id, cells });
  const since = fromId === undefined ? all.total : (await countNewer(db, lists, { id: fromId, cells })).newer;
  const tooNew = untilId === undefined ? 0 : (await countNewer(db, lists, { id: untilId, cells })).newer;
  const total = Math.max(0, since - tooNew);
  return { total, newer: Math.min(total, Math.max(0, all.newer - tooNew)) };
}

async function countRows(db: Db, { lists, cells, narrowing }: Counted, id: string): Promise<Counts> {
  const sum: Counts = { total: 0, newer: 0 };
  for (const list of lists) {
    const { rows } = await sql<Counts>`
      select count(*) as total, count(case when id > ${id} then 1 end) as newer from record
      where ${listConditions(list)} and cell in (${sql.join(cells)}) ${narrowConditions(narrowing)}`.execute(
      db,
    );
    sum.total += Number(rows[0]?.total ?? 0);
    sum.newer += Number(rows[0]?.newer ?? 0);
  }
  return sum;
}
