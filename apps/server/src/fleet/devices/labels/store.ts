import { change } from '../../../storage/db/change-note.ts';
import type { Db } from '../../../storage/db/database.ts';
import { countRows, roomWithin } from '../../../storage/db/quota.ts';
import type { Row } from '../../../storage/db/tables/tables.ts';
import { transact } from '../../../storage/db/transactions.ts';
import { invalidate } from '../../../storage/db/invalidate.ts';

export type StoredLabelSet = Row<'label_set'>;
/** Phone, or all phones of a host. Contains the owner, because hosts of two owners may share one ID. */
export type LabelTarget = Pick<StoredLabelSet, 'owner_id' | 'kind' | 'target_id'>;
export type StoredPool = Row<'pool'>;

export type LabelStore = ReturnType<typeof createLabelStore>;

/** Stores names and labels of phones and hosts, and saved selectors. */
export function createLabelStore(db: Db) {
  const put = (set: StoredLabelSet, changed: Partial<Pick<StoredLabelSet, 'name' | 'labels'>>) =>
    change(db, async (transaction) => {
      const stored = await transaction
        .insertInto('label_set')
        .values(set)
        .onConflict((conflict) => conflict.columns(['owner_id', 'kind', 'target_id']).doUpdateSet(changed))
        .returningAll()
        .executeTakeFirstOrThrow();
      await invalidate(transaction, 'labels');
      return stored;
    });
  return {
    listSets: (): Promise<StoredLabelSet[]> => db.selectFrom('label_set').selectAll().execute(),

    listPools: (): Promise<StoredPool[]> => db.selectFrom('pool').selectAll().execute(),

    putName: (target: LabelTarget, name: string): Promise<StoredLabelSet> =>
      put({ ...target, name, labels: '{}' }, { name }),

    putLabels: (target: LabelTarget, labels: string): Promise<StoredLabelSet> =>
      put({ ...target, name: '', labels }, { labels }),

    async deleteSet({ owner_id, kind, target_id }: LabelTarget): Promise<void> {
      await transact(db, async (transaction) => {
        await transaction
          .deleteFrom('label_set')
          .where('owner_id', '=', owner_id)
          .where('kind', '=', kind)
          .where('target_id', '=', target_id)
          .execute();
        await invalidate(transaction, 'labels');
      });
    },

    /** Stores a pool. Returns false when the user has reached the maximum number of pools. */
    putPool: (pool: StoredPool, max: number): Promise<boolean> =>
      change(db, async (transaction) => {
        const own = transaction.selectFrom('pool').where('user_id', '=', pool.user_id);
        const others = own.where('name_key', '<>', pool.name_key);
        const quota = { kind: 'pools', owner: pool.user_id, max };
        if ((await roomWithin(transaction, quota, () => countRows(others))) < 1) return false;
        const { name, selector } = pool;
        await transaction
          .insertInto('pool')
          .values(pool)
          .onConflict((conflict) => conflict.columns(['user_id', 'name_key']).doUpdateSet({ name, selector }))
          .execute();
        await invalidate(transaction, 'labels');
        return true;
      }),

    /** Deletes a pool. Returns false when there was none. */
    deletePool: (userId: string, nameKey: string): Promise<boolean> =>
      change(db, async (transaction) => {
        const query = transaction.deleteFrom('pool').where('user_id', '=', userId);
        const { numDeletedRows } = await query.where('name_key', '=', nameKey).executeTakeFirst();
        await invalidate(transaction, 'labels');
        return numDeletedRows > 0n;
      }),
  };
}
