import { sql } from 'kysely';
import type { Acceptance } from '../../http/acceptance.ts';
import { change } from '../../storage/db/change-note.ts';
import type { Db } from '../../storage/db/database.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { transact } from '../../storage/db/transactions.ts';
import { invalidate } from '../../storage/db/invalidate.ts';

export type StoredShare = Row<'share'>;
export type ShareTarget = Pick<StoredShare, 'owner_id' | 'kind' | 'target_id'>;

export type ShareStore = ReturnType<typeof createShareStore>;

/** Stores the shares of phones and hosts with users. */
export function createShareStore(db: Db) {
  return {
    listAll: (): Promise<StoredShare[]> => db.selectFrom('share').selectAll().execute(),

    listUsers: (): Promise<{ id: string; name: string }[]> =>
      db.selectFrom('user').select(['id', 'name']).execute(),

    async findUserName(id: string): Promise<string | undefined> {
      const row = await db.selectFrom('user').select('name').where('id', '=', id).executeTakeFirst();
      return row?.name;
    },

    /** Stores a share. A stronger role than before resets the acceptance. */
    put: (share: StoredShare): Promise<StoredShare> =>
      change(db, async (transaction) => {
        const stored = await transaction
          .insertInto('share')
          .values(share)
          .onConflict((conflict) =>
            conflict.columns(['owner_id', 'kind', 'target_id', 'user_id']).doUpdateSet({
              role: share.role,
              accepted_at: sql`CASE WHEN excluded.role IN (share.role, 'view') THEN share.accepted_at END`,
            }),
          )
          .returningAll()
          .executeTakeFirstOrThrow();
        await invalidate(transaction, 'shares');
        return stored;
      }),

    /**
     * Accepts a share. Returns undefined when there is no such share, or none with this role. An earlier acceptance
     * keeps its time.
     */
    accept: (
      { owner_id, kind, target_id }: ShareTarget,
      { userId, role, now }: Acceptance,
    ): Promise<StoredShare | undefined> =>
      change(db, async (transaction) => {
        const accepted = await transaction
          .updateTable('share')
          .set((eb) => ({ accepted_at: eb.fn.coalesce('accepted_at', eb.val(now)) }))
          .where('owner_id', '=', owner_id)
          .where('kind', '=', kind)
          .where('target_id', '=', target_id)
          .where('user_id', '=', userId)
          .where(role === undefined ? sql.lit(true) : sql<boolean>`role = ${role}`)
          .returningAll()
          .executeTakeFirst();
        await invalidate(transaction, 'shares');
        return accepted;
      }),

    delete: ({ owner_id, kind, target_id }: ShareTarget, userId: string): Promise<unknown> =>
      change(db, async (transaction) => {
        await transaction
          .deleteFrom('share')
          .where('owner_id', '=', owner_id)
          .where('kind', '=', kind)
          .where('target_id', '=', target_id)
          .where('user_id', '=', userId)
          .execute();
        await invalidate(transaction, 'shares');
        return true;
      }),

    async deleteAll({ owner_id, kind, target_id }: ShareTarget): Promise<void> {
      await transact(db, async (transaction) => {
        await transaction
          .deleteFrom('share')
          .where('owner_id', '=', owner_id)
          .where('kind', '=', kind)
          .where('target_id', '=', target_id)
          .execute();
        await invalidate(transaction, 'shares');
      });
    },
  };
}
