import type { AuditAction, AuditOutcome, AuditSubject } from '@phalanx/protocol';
import { sql, type Transaction } from 'kysely';

import type { Db } from '../db/database.ts';

export interface StoredEntry {
  /** UUIDv7. */
  id: string;
  action: AuditAction;
  outcome: AuditOutcome;
  code: string | null;
  user_id: string | null;
  user_name: string | null;
  token_id: string | null;
  token_name: string | null;
  address: string | null;
  subject_type: AuditSubject['type'] | null;
  subject_id: string | null;
  subject_name: string | null;
  /** JSON of an object. */
  details: string;
  count: number;
  request_id: string | null;
}

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  audit_entry: StoredEntry;
  audit_reader: { user_id: string; entry_id: string };
};

/** What one index leads to. */
export interface EntryRange {
  /** Only what this user may read of. */
  readerId?: string;
  userId?: string;
  subjectId?: string;
  action?: AuditAction;
  /** IDs between which they lie: the first may be among them. */
  from: string;
  before: string;
  limit: number;
}

/** A step of a deletion; a larger one would hold up requests. */
const entriesPerStep = 500;

export type AuditStore = ReturnType<typeof createAuditStore>;

export function createAuditStore(database: Db) {
  const db = database.withTables<Tables>();
  const strangers = db.selectFrom('audit_entry').select('id').where('user_id', 'is', null);
  return {
    /** `readers`: who may read of it beside administrators. */
    async insert(
      transaction: Transaction<object>,
      entry: StoredEntry,
      readers: Iterable<string>,
    ): Promise<void> {
      await transaction.withTables<Tables>().insertInto('audit_entry').values(entry).execute();
      const userIds = JSON.stringify([...readers]);
      await sql`INSERT INTO audit_reader SELECT value, ${entry.id} FROM json_each(${userIds})`.execute(
        transaction,
      );
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

    /** The newest first. */
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

    /** Some of those below the ID; returns how many they were. */
    async deleteSomeBefore(id: string): Promise<number> {
      return deleteSome(db.selectFrom('audit_entry').select('id').where('id', '<', id));
    },

    /** Some of what strangers were refused beyond the newest `kept`. */
    async deleteSomeOfStrangers(kept: number): Promise<number> {
      return deleteSome(strangers.orderBy('id', 'desc').offset(kept));
    },
  };

  async function deleteSome(some: typeof strangers): Promise<number> {
    const rows = await some.limit(entriesPerStep).execute();
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return 0;
    await db.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('audit_reader').where('entry_id', 'in', ids).execute();
      await transaction.deleteFrom('audit_entry').where('id', 'in', ids).execute();
    });
    return ids.length;
  }
}
