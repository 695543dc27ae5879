import type { AuditAction } from '@phalanx/protocol';

import type { Db, Transaction } from '../../storage/db/database.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { transact } from '../../storage/db/transactions.ts';

export type StoredEntry = Row<'audit_entry'>;

/** Range of entries that one index selects. */
export interface EntryRange {
  /** User to whose readable entries the range is limited. */
  readerId?: string;
  userId?: string;
  subjectId?: string;
  action?: AuditAction;
  /** IDs that bound the range; the first is inclusive. */
  from: string;
  before: string;
  limit: number;
}

/** Entries deleted in one step; a larger step would delay requests. */
const entriesPerStep = 500;

export type AuditStore = ReturnType<typeof createAuditStore>;

export function createAuditStore(db: Db) {
  const strangers = db.selectFrom('audit_entry').select('id').where('user_id', 'is', null);
  return {
    /** Stores an entry. `readers`: users who may read it beside administrators. */
    async insert(transaction: Transaction, entry: StoredEntry, readers: Iterable<string>): Promise<void> {
      await transaction.insertInto('audit_entry').values(entry).execute();
      const rows = Array.from(readers, (user_id) => ({ user_id, entry_id: entry.id }));
      if (rows.length > 0) await transaction.insertInto('audit_reader').values(rows).execute();
    },

    async findLastId(): Promise<string | undefined> {
      const row = await db
        .selectFrom('audit_entry')
        .select('id')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.id;
    },

    /** Lists the newest entries first. */
    list({ readerId, userId, subjectId, action, from, before, limit }: EntryRange): Promise<StoredEntry[]> {
      let query = db.selectFrom('audit_entry').selectAll('audit_entry').limit(limit);
      if (readerId !== undefined)
        return query
          .innerJoin('audit_reader as reader', 'reader.entry_id', 'audit_entry.id')
          .where('reader.user_id', '=', readerId)
          .where('reader.entry_id', '>=', from)
          .where('reader.entry_id', '<', before)
          .orderBy('reader.entry_id', 'desc')
          .execute();
      if (userId !== undefined) query = query.where('user_id', '=', userId);
      if (subjectId !== undefined) query = query.where('subject_id', '=', subjectId);
      if (action !== undefined) query = query.where('action', '=', action);
      return query.where('id', '>=', from).where('id', '<', before).orderBy('id', 'desc').execute();
    },

    /** Deletes some of the entries below the ID; returns how many they were. */
    async deleteSomeBefore(id: string): Promise<number> {
      return deleteSome(db.selectFrom('audit_entry').select('id').where('id', '<', id));
    },

    /** Deletes some of the entries without a user, beyond the newest `kept`. */
    async deleteSomeOfStrangers(kept: number): Promise<number> {
      return deleteSome(strangers.orderBy('id', 'desc').offset(kept));
    },
  };

  async function deleteSome(some: typeof strangers): Promise<number> {
    const rows = await some.limit(entriesPerStep).execute();
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return 0;
    await transact(db, async (transaction) => {
      await transaction.deleteFrom('audit_reader').where('entry_id', 'in', ids).execute();
      await transaction.deleteFrom('audit_entry').where('id', 'in', ids).execute();
    });
    return ids.length;
  }
}
