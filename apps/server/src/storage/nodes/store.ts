import type { Db, Transaction } from '../db/database.ts';
import { hasLease, hasLeases, isLeaseOver, lastRenewal, leaseEnd } from '../db/lease.ts';
import { transact } from '../db/transactions.ts';

export type NodeStore = ReturnType<typeof createNodeStore>;

/** Store of the servers that are alive. The connections of their hosts end with their rows. */
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
     * Adds this server, and ends the connections of the hosts of servers that are gone. `isAlone`: no other server has
     * the database, so those that had it before are gone.
     */
    begin: (id: string, now: number, isAlone = false): Promise<void> =>
      transact(db, async (transaction) => {
        await insert(transaction, id, now);
        await (isAlone ? deleteOthers(transaction, id).execute() : deleteGone(transaction, id));
        await endSessions(transaction, now);
      }),

    /** Renews the lease. Returns the time of the database, epoch ms; undefined: others have found the server gone. */
    async renew(id: string): Promise<number | undefined> {
      const row = await db
        .updateTable('node')
        .set({ lease_until: leaseEnd(db) })
        .where('id', '=', id)
        .returning(lastRenewal(db).as('now'))
        .executeTakeFirst();
      return row?.now ?? undefined;
    },

    /** Deletes other servers whose lease is over, and ends the connections of their hosts. */
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

    /** Time since which there has always been a server, epoch ms. */
    async findUpSince(): Promise<number | null> {
      const query = db.selectFrom('node').select((eb) => eb.fn.min<number | null>('started_at').as('since'));
      return (await query.executeTakeFirstOrThrow()).since;
    },
  };
}
