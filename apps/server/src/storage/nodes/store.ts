import { sql } from 'kysely';
import type { Db, Transaction } from '../db/database.ts';
import { hasLease, hasLeases, isLeaseOver, lastRenewal, leaseEnd, databaseTime } from '../db/lease.ts';
import { transact } from '../db/transactions.ts';
import type { CachedThing } from '../db/tables/column-types.ts';

export type NodeStore = ReturnType<typeof createNodeStore>;

/** The servers that are alive. What they had of hosts ends with their rows. */
export function createNodeStore(db: Db) {
  const insert = (transaction: Transaction, id: string, startedAt: number) =>
    transaction
      .insertInto('node')
      .values({ id, started_at: startedAt, lease_until: leaseEnd(transaction) })
      .execute();
  const endSessions = (transaction: Transaction, now: number) =>
    transaction
      .updateTable('host_session')
      .set({ ended_at: now })
      .where('ended_at', 'is', null)
      .where('node_id', 'is', null)
      .execute();
  const deleteOthers = (transaction: Transaction, id: string) =>
    transaction.deleteFrom('node').where('id', '<>', id);
  const deleteGone = (transaction: Transaction, id: string) =>
    deleteOthers(transaction, id).where(isLeaseOver(transaction)).executeTakeFirst();
  return {
    hasLeases: hasLeases(db),

    /**
     * This server is there, and others that are not have no host any more. `isAlone`: nobody else has the database, so
     * whoever had it before is gone.
     */
    begin: (id: string, now: number, isAlone = false): Promise<void> =>
      transact(db, async (transaction) => {
        await insert(transaction, id, now);
        await (isAlone ? deleteOthers(transaction, id).execute() : deleteGone(transaction, id));
        await endSessions(transaction, now);
      }),

    /** Returns the time of the database, epoch ms; undefined: others have found it gone. */
    async renew(id: string): Promise<number | undefined> {
      const row = await db
        .updateTable('node')
        .set({ lease_until: leaseEnd(db) })
        .where('id', '=', id)
        .returning(lastRenewal(db).as('now'))
        .executeTakeFirst();
      return row?.now ?? undefined;
    },

    /** Others whose lease is over are gone. */
    endGone: (id: string, now: number): Promise<void> =>
      transact(db, async (transaction) => {
        const { numDeletedRows } = await deleteGone(transaction, id);
        if (numDeletedRows > 0n) await endSessions(transaction, now);
      }),

    end: (id: string, now: number): Promise<void> =>
      transact(db, async (transaction) => {
        await transaction.deleteFrom('node').where('id', '=', id).execute();
        await endSessions(transaction, now);
      }),

    /** The others that are alive. */
    async listOthers(id: string): Promise<string[]> {
      const rows = await db
        .selectFrom('node')
        .select('id')
        .where('id', '<>', id)
        .where(hasLease(db))
        .execute();
      return rows.map((row) => row.id);
    },

    /** Since when there has always been a server, epoch ms. */
    async findUpSince(): Promise<number | null> {
      const query = db.selectFrom('node').select((eb) => eb.fn.min<number | null>('started_at').as('since'));
      return (await query.executeTakeFirstOrThrow()).since;
    },
  };
}

/** A server that has not read them for so long reads all caches again. */
export const keptMs = 60_000;

export interface CacheInvalidation {
  readonly id: number;
  readonly name: CachedThing;
}

export type CacheInvalidationStore = ReturnType<typeof createCacheInvalidationStore>;

/** What has changed in the last minute that servers cache. Triggers write it. */
export function createCacheInvalidationStore(db: Db) {
  return {
    list: (): Promise<CacheInvalidation[]> =>
      db.selectFrom('cache_invalidation').select(['id', 'name']).execute(),

    async deleteOld(): Promise<void> {
      await db
        .deleteFrom('cache_invalidation')
        .where('at', '<', sql<number>`${databaseTime(db)} - ${sql.lit(keptMs)}`)
        .execute();
    },
  };
}
