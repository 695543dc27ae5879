import { sql, type RawBuilder } from 'kysely';
import { dayMs } from '@phalanx/timing/durations';
import { change } from '../../../storage/db/change-note.ts';
import type { Db, Transaction } from '../../../storage/db/database.ts';
import { serialize, transact } from '../../../storage/db/transactions.ts';
import { enqueue } from '../../../storage/db/work-queue.ts';
import type { StoredRecord } from '../stored-record.ts';
import { leaveGroup } from '../groups/membership-store.ts';
import { protectionEnd } from './protection-end.ts';

export interface RetentionLimits {
  /** Maximum number of debug records per automation and tag. */
  debugPerTag: number;
  /** Maximum number of records of all other types together, per automation. */
  others: number;
}

/** Group of records that share one limit. */
type RetentionGroup = Pick<StoredRecord, 'owner_id' | 'automation_id' | 'retention_group'>;

/**
 * Locks the records of an automation against insertion, deletion and moves between groups, because retention limits and
 * group counts are read and then acted upon. A change of a single record needs only the lock of its row.
 */
export const lockRecordsOf = (
  transaction: Transaction,
  { owner_id: ownerId, automation_id: automationId }: Pick<StoredRecord, 'owner_id' | 'automation_id'>,
): Promise<void> => serialize(transaction, `records of ${ownerId}/${automationId}`);

/** Deletes a record, and enqueues the deletion of its captures. */
async function removeRecord(transaction: Transaction, record: StoredRecord): Promise<void> {
  await leaveGroup(transaction, record.id);
  await transaction.deleteFrom('record').where('id', '=', record.id).execute();
  await enqueue(transaction, 'delete captures', [{ key: record.id }]);
}

/** Minimum length of two calendar months, ms. A younger saved record is always protected. */
const minProtectionMs = 59 * dayMs;
/**
 * Maximum number of deletions per transaction, few enough not to delay others noticeably. The next call deletes more.
 */
const deletionsPerTransaction = 100;

/**
 * Locks a batch of records that exceed the limit of their group and are not protected, oldest first. A record that is
 * being saved stays.
 */
async function takeDoomed(
  transaction: Db,
  group: RetentionGroup,
  { limit, nowMs }: { limit: number; nowMs: number },
): Promise<StoredRecord[]> {
  const ofGroup = transaction
    .selectFrom('record')
    .where('owner_id', '=', group.owner_id)
    .where('automation_id', '=', group.automation_id)
    .where('retention_group', '=', group.retention_group);
  const newest = await ofGroup.select('id').orderBy('id', 'desc').offset(limit).limit(1).executeTakeFirst();
  if (newest === undefined) return [];
  const candidates = await ofGroup
    .selectAll()
    .where('id', '<=', newest.id)
    .where((eb) => eb.or([eb('saved', '=', 0), eb('added_at', '<=', nowMs - minProtectionMs)]))
    .orderBy('id')
    .limit(deletionsPerTransaction)
    .forUpdate()
    .execute();
  return candidates.filter((record) => record.saved === 0 || protectionEnd(record.added_at) <= nowMs);
}

export interface RetentionOptions {
  limits: RetentionLimits;
  nowMs: number;
}

/**
 * Deletes a batch of records that exceed the limit of their group and are not protected, oldest first. Returns their
 * number.
 */
export async function trimGroup(
  transaction: Transaction,
  group: RetentionGroup,
  { limits, nowMs }: RetentionOptions,
): Promise<number> {
  const limit = group.retention_group === '' ? limits.others : limits.debugPerTag;
  const doomed = await takeDoomed(transaction, group, { limit, nowMs });
  for (const record of doomed) await removeRecord(transaction, record);
  return doomed.length;
}

export type RetentionStore = ReturnType<typeof createRetentionStore>;

/** Creates the store that finds and deletes expired records. */
export function createRetentionStore(db: Db) {
  return {
    trim: (group: RetentionGroup, retention: RetentionOptions): Promise<number> =>
      transact(db, async (transaction) => {
        await lockRecordsOf(transaction, group);
        return trimGroup(transaction, group, retention);
      }),

    /** Lists saved records after an ID, oldest first. */
    listSaved: (afterId: string, limit: number): Promise<StoredRecord[]> =>
      db
        .selectFrom('record')
        .selectAll()
        .where('saved', '=', 1)
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(limit)
        .execute(),

    /**
     * Deletes a record, saved or not, and the kept copies of its screens. Returns undefined when the record is already
     * deleted.
     */
    deleteOne: (id: string): Promise<StoredRecord | undefined> =>
      change(db, async (transaction) => {
        const found = transaction.selectFrom('record').selectAll().where('id', '=', id);
        const before = await found.executeTakeFirst();
        if (before === undefined) return undefined;
        await lockRecordsOf(transaction, before);
        const record = await found.executeTakeFirst();
        if (record === undefined) return undefined;
        await transaction.deleteFrom('group_screen').where('record_id', '=', id).execute();
        await removeRecord(transaction, record);
        return record;
      }),

    /**
     * Deletes up to `limit` records of one automation of a project or an owner, saved or not. Returns the number of
     * deleted records, or undefined when there were none.
     */
    deleteSome: (of: 'project_id' | 'owner_id', id: string, limit: number): Promise<number | undefined> =>
      transact(db, async (transaction) => {
        const found = transaction.selectFrom('record').where(of, '=', id);
        const one = await found.select(['owner_id', 'automation_id']).limit(1).executeTakeFirst();
        if (one === undefined) return undefined;
        await lockRecordsOf(transaction, one);
        const ofAutomation = found
          .where('owner_id', '=', one.owner_id)
          .where('automation_id', '=', one.automation_id);
        const records = await ofAutomation.selectAll().orderBy('id').limit(limit).execute();
        for (const record of records) await removeRecord(transaction, record);
        return records.length;
      }),

    /** Finds a deleted project that still has records. Skips from project to project through the index. */
    async findLostProject(): Promise<string | undefined> {
      const next = (after: RawBuilder<unknown>) => sql`(
        select project_id from record where project_id > ${after} order by project_id limit 1)`;
      const { rows } = await sql<{ id: string }>`
        with recursive known(id) as (
          select ${next(sql`''`)}
          union all select ${next(sql.ref('known.id'))} from known where known.id is not null)
        select id from known where id is not null and id not in (select id from project) limit 1`.execute(db);
      return rows[0]?.id;
    },
  };
}
