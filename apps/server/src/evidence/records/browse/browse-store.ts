import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../../storage/db/database.ts';
import { inOneMoment } from '../../../storage/db/transactions.ts';
import type { RecordList, ReviewScope, StoredRecord } from '../stored-record.ts';
import { listConditions, valuesOf, countNewer } from './tally-store.ts';

/** The wanted record: the newest, this one, or the next one on a side of an ID, which need not exist. */
export type Wanted =
  | { kind: 'newest' }
  | { kind: 'this'; id: string }
  | { kind: 'older' | 'newer'; id: string };

export interface BrowseQuery {
  /** All records that the caller may see. */
  visible: readonly ReviewScope[];
  /** Part of them that is searched. No two scopes overlap. */
  scopes: readonly ReviewScope[];
  cells: readonly number[];
  tag: string | undefined;
  narrowing: Narrowing;
  wanted: Wanted;
}

export interface BrowsePage extends Counts {
  record: StoredRecord;
  /** False for a record that was asked for by its ID and that the filters leave out. */
  isMatch: boolean;
}

export type BrowseStore = ReturnType<typeof createBrowseStore>;

type Looked = Pick<BrowseQuery, 'cells' | 'narrowing'>;

/**
 * Finds the next record. Each cell of each list has its own index order, so the result is the best of their next ones.
 */
function nextOf(list: RecordList, { cells, narrowing }: Looked, wanted: Exclude<Wanted, { kind: 'this' }>) {
  const bound =
    wanted.kind === 'newest'
      ? sql``
      : wanted.kind === 'older'
        ? sql`and id < ${wanted.id}`
        : sql`and id > ${wanted.id}`;
  const isNewer = wanted.kind === 'newer';
  const order: RawBuilder<unknown> = isNewer ? sql`asc` : sql`desc`;
  return sql<{ id: string | null }>`
    select ${isNewer ? sql`min` : sql`max`}(candidate) as id from (
      select (select id from record where ${listConditions(list)} and record.cell = wanted.column1
        ${narrowConditions(narrowing)} ${bound} order by record.id ${order} limit 1) as candidate
      from (${valuesOf(cells.map((cell) => [cell]))}) as wanted) as candidates`;
}

/** Reads one record at a time with its position. The cost does not grow with the number of records. */
export function createBrowseStore(db: Db) {
  const findNext = async (
    from: Db,
    lists: readonly RecordList[],
    looked: Looked,
    wanted: Exclude<Wanted, { kind: 'this' }>,
  ): Promise<string | undefined> => {
    const ids: string[] = [];
    for (const list of lists) {
      const { rows } = await nextOf(list, looked, wanted).execute(from);
      const id = rows[0]?.id;
      if (typeof id === 'string') ids.push(id);
    }
    ids.sort();
    return wanted.kind === 'newer' ? ids[0] : ids.at(-1);
  };

  const isIn = (record: StoredRecord, scopes: readonly ReviewScope[]): boolean =>
    scopes.some(
      ({ ownerId, automationId }) =>
        record.owner_id === ownerId && (automationId ?? record.automation_id) === record.automation_id,
    );

  return {
    /** Reads all of it at one moment. Undefined: there is no such record. */
    browse: ({ visible, scopes, tag, wanted, ...looked }: BrowseQuery): Promise<BrowsePage | undefined> =>
      inOneMoment(db, async (transaction) => {
        const lists = scopes.map((scope) => ({ ...scope, tag: tag ?? null }));
        const id = wanted.kind === 'this' ? wanted.id : await findNext(transaction, lists, looked, wanted);
        if (id === undefined) return undefined;
        const record = await transaction
          .selectFrom('record')
          .selectAll()
          .where('id', '=', id)
          .executeTakeFirst();
        if (record === undefined || (wanted.kind === 'this' && !isIn(record, visible))) return undefined;
        const counts = await countMatches(transaction, { lists, ...looked }, id);
        const isMatch =
          isIn(record, scopes) &&
          looked.cells.includes(record.cell) &&
          (tag ?? record.tag) === record.tag &&
          isWithin(record, looked.narrowing);
        return { record, ...counts, isMatch };
      }),

    /** Distinct tags of an automation's debug records, in order. Jumps from tag to tag through the index. */
    async listTags({ ownerId, automationId }: { ownerId: string; automationId: string }): Promise<string[]> {
      const next = (after: RawBuilder<unknown>) => sql`(
        select retention_group from record
        where owner_id = ${ownerId} and automation_id = ${automationId} and retention_group > ${after}
        order by retention_group limit 1)`;
      const { rows } = await sql<{ tag: string }>`
        with recursive tags(tag) as (
          select ${next(sql`''`)}
          union all select ${next(sql.ref('tags.tag'))} from tags where tags.tag is not null)
        select tag from tags where tag is not null`.execute(db);
      return rows.map((row) => row.tag);
    },
  };
}

/** Filters that have no tallies of their own. */
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

interface Counts {
  total: number;
  /** Number of matches that are newer than an ID. */
  newer: number;
}

function narrowConditions({ deviceId, runId, fromId, untilId }: Narrowing): RawBuilder<unknown> {
  const conditions: RawBuilder<unknown>[] = [];
  if (deviceId !== undefined) conditions.push(sql`and device_id = ${deviceId}`);
  if (runId !== undefined) conditions.push(sql`and run_id = ${runId}`);
  if (fromId !== undefined) conditions.push(sql`and id >= ${fromId}`);
  if (untilId !== undefined) conditions.push(sql`and id < ${untilId}`);
  return sql.join(conditions, sql` `);
}

const isWithin = (record: StoredRecord, { deviceId, runId, fromId, untilId }: Narrowing): boolean =>
  (deviceId ?? record.device_id) === record.device_id &&
  (runId ?? record.run_id) === record.run_id &&
  (fromId === undefined || record.id >= fromId) &&
  (untilId === undefined || record.id < untilId);

/** Counts the records of one phone or one run in its index, and everything else by the tallies. */
const countMatches = (db: Db, counted: Counted, id: string): Promise<Counts> =>
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
