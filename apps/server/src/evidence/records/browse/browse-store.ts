import type { RecordStatus, RecordType } from '@phalanx/protocol';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../storage/db/database.ts';
import { rowsAs } from '../../../storage/db/dialect.ts';
import { readSnapshot } from '../../../storage/db/transactions.ts';
import type { ReviewScope, StoredRecord } from '../stored-record.ts';

/**
 * Requested record: the newest one, the one with an ID, or the next older or newer one than an ID, which need not
 * exist.
 */
export type Wanted =
  | { kind: 'newest' }
  | { kind: 'this'; id: string }
  | { kind: 'older' | 'newer'; id: string };

/** Filters of records. An undefined filter matches everything. */
export interface RecordFilter {
  readonly type: RecordType | undefined;
  readonly status: RecordStatus | undefined;
  readonly isPartial: boolean | undefined;
  readonly tag: string | undefined;
  readonly deviceId: string | undefined;
  readonly runId: string | undefined;
  /** Range of IDs, from `fromId` to before `untilId`. IDs encode the time, so neither needs to exist. */
  readonly fromId: string | undefined;
  readonly untilId: string | undefined;
}

export interface BrowseQuery {
  /** Scopes of all records that the caller may see. */
  visible: readonly ReviewScope[];
  /** Searched part of the visible scopes. No two scopes overlap. */
  scopes: readonly ReviewScope[];
  filter: RecordFilter;
  wanted: Wanted;
}

export interface BrowsePage {
  record: StoredRecord;
  /** Number of matches. */
  total: number;
  /** Number of matches that are newer than the record. */
  newer: number;
  /** Whether the filters match the record. False only for a record that was requested by its ID. */
  isMatch: boolean;
}

export type BrowseStore = ReturnType<typeof createBrowseStore>;

/**
 * Reads one record at a time with its position. Matches are counted in an index that covers all filters except `runId`.
 */
export function createBrowseStore(db: Db) {
  return {
    /** Reads the record and its counts in one snapshot. Returns undefined when there is no such record. */
    browse: ({ visible, scopes, filter, wanted }: BrowseQuery): Promise<BrowsePage | undefined> =>
      readSnapshot(db, async (transaction) => {
        const searched = { scopes, filter };
        const id = wanted.kind === 'this' ? wanted.id : await findNext(transaction, searched, wanted);
        if (id === undefined) return undefined;
        const record = await transaction
          .selectFrom('record')
          .selectAll()
          .where('id', '=', id)
          .executeTakeFirst();
        if (record === undefined || (wanted.kind === 'this' && !isIn(record, visible))) return undefined;
        const newer = await count(transaction, searched, sql`id > ${id}`);
        const others = await count(transaction, searched, sql`id <= ${id}`);
        return {
          record,
          total: newer + others,
          newer,
          isMatch: isIn(record, scopes) && isMatch(record, filter),
        };
      }),

    /** Lists the distinct tags of an automation's debug records, in order. Skips from tag to tag through the index. */
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

type Searched = Pick<BrowseQuery, 'scopes' | 'filter'>;

async function findNext(
  db: Db,
  searched: Searched,
  wanted: Exclude<Wanted, { kind: 'this' }>,
): Promise<string | undefined> {
  const isNewer = wanted.kind === 'newer';
  const order = isNewer ? sql`asc` : sql`desc`;
  const bound =
    wanted.kind === 'newest' ? sql`1 = 1` : isNewer ? sql`id > ${wanted.id}` : sql`id < ${wanted.id}`;
  const nextIds = await inEachScope<string | null>(
    db,
    searched,
    (matches) => sql`select id from record where ${matches} and ${bound} order by id ${order} limit 1`,
  );
  const found = nextIds.filter((id) => id !== null).toSorted();
  return isNewer ? found[0] : found.at(-1);
}

async function count(db: Db, searched: Searched, bound: RawBuilder<unknown>): Promise<number> {
  const counts = await inEachScope<number>(
    db,
    searched,
    (matches) => sql`select count(*) from record where ${matches} and ${bound}`,
  );
  return counts.reduce((sum, one) => sum + one, 0);
}

/**
 * Returns the value of a subquery for each scope. One statement covers all scopes, however many projects are shared
 * with the caller.
 */
async function inEachScope<Value>(
  db: Db,
  { scopes, filter }: Searched,
  subquery: (matches: RawBuilder<unknown>) => RawBuilder<unknown>,
): Promise<Value[]> {
  const given = scopes.map((scope) => ({ owner_id: scope.ownerId, automation_id: scope.automationId }));
  const rows = rowsAs(db, 'scope', { owner_id: 'text', automation_id: 'text' }, given);
  const ofOwner = sql`record.owner_id = scope.owner_id ${conditionsOf(filter)}`;
  const ofAutomation = sql`record.automation_id = scope.automation_id and ${ofOwner}`;
  const found = await sql<{ value: Value }>`
    select (${subquery(ofOwner)}) as value from ${rows} where scope.automation_id is null
    union all
    select (${subquery(ofAutomation)}) as value from ${rows} where scope.automation_id is not null`.execute(
    db,
  );
  return found.rows.map(({ value }) => value);
}

function conditionsOf(filter: RecordFilter): RawBuilder<unknown> {
  const conditions: RawBuilder<unknown>[] = [];
  if (filter.type !== undefined) conditions.push(sql`and type = ${filter.type}`);
  if (filter.status !== undefined) conditions.push(sql`and status = ${filter.status}`);
  if (filter.isPartial !== undefined) conditions.push(sql`and is_partial = ${Number(filter.isPartial)}`);
  if (filter.tag !== undefined) conditions.push(sql`and tag = ${filter.tag}`);
  if (filter.deviceId !== undefined) conditions.push(sql`and device_id = ${filter.deviceId}`);
  if (filter.runId !== undefined) conditions.push(sql`and run_id = ${filter.runId}`);
  if (filter.fromId !== undefined) conditions.push(sql`and id >= ${filter.fromId}`);
  if (filter.untilId !== undefined) conditions.push(sql`and id < ${filter.untilId}`);
  return sql.join(conditions, sql` `);
}

const isIn = (record: StoredRecord, scopes: readonly ReviewScope[]): boolean =>
  scopes.some(
    ({ ownerId, automationId }) =>
      record.owner_id === ownerId && (automationId ?? record.automation_id) === record.automation_id,
  );

const isMatch = (record: StoredRecord, filter: RecordFilter): boolean =>
  (filter.type ?? record.type) === record.type &&
  (filter.status ?? record.status) === record.status &&
  Number(filter.isPartial ?? record.is_partial) === record.is_partial &&
  (filter.tag ?? record.tag) === record.tag &&
  (filter.deviceId ?? record.device_id) === record.device_id &&
  (filter.runId ?? record.run_id) === record.run_id &&
  (filter.fromId === undefined || record.id >= filter.fromId) &&
  (filter.untilId === undefined || record.id < filter.untilId);
