import { change } from '../../../storage/db/change-note.ts';
import type { Db } from '../../../storage/db/database.ts';
import { transact } from '../../../storage/db/transactions.ts';
import { invalidate, invalidateLater } from '../../../storage/db/invalidate.ts';

export interface StoredSession {
  readonly hash: string;
  /** Hash of the secret of its token. */
  readonly tokenHash: string;
  readonly createdAt: number;
  readonly usedAt: number;
}

export type SessionStore = ReturnType<typeof createSessionStore>;

/** Stores the sessions of browsers. */
export function createSessionStore(db: Db) {
  return {
    async insert(session: { hash: string; tokenId: string; createdAt: number }): Promise<void> {
      const { hash, tokenId: token_id, createdAt } = session;
      const row = { hash, token_id, created_at: createdAt, used_at: createdAt };
      await change(db, (transaction) => transaction.insertInto('session').values(row).execute());
    },

    async find(hash: string): Promise<StoredSession | undefined> {
      const row = await db
        .selectFrom('session')
        .innerJoin('token', 'token.id', 'session.token_id')
        .select(['session.hash', 'session.created_at', 'session.used_at', 'token.hash as token_hash'])
        .where('session.hash', '=', hash)
        .executeTakeFirst();
      return (
        row && {
          hash: row.hash,
          tokenHash: row.token_hash,
          createdAt: row.created_at,
          usedAt: row.used_at,
        }
      );
    },

    /** Returns the hash of the token; empty if it was deleted. */
    async findTokenHash(tokenId: string): Promise<string> {
      const row = await db.selectFrom('token').select('hash').where('id', '=', tokenId).executeTakeFirst();
      return row?.hash ?? '';
    },

    async noteUse(hash: string, usedAt: number): Promise<void> {
      await db.updateTable('session').set({ used_at: usedAt }).where('hash', '=', hash).execute();
    },

    async delete(hash: string): Promise<void> {
      await change(db, async (transaction) => {
        await transaction.deleteFrom('session').where('hash', '=', hash).execute();
        await invalidate(transaction, 'sessions');
        return true;
      });
    },

    async deleteEnded(usedBefore: number, createdBefore: number): Promise<void> {
      await transact(db, async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('session')
          .where((where) =>
            where.or([where('used_at', '<', usedBefore), where('created_at', '<', createdBefore)]),
          )
          .executeTakeFirst();
        if (numDeletedRows > 0n) await invalidateLater(transaction, 'sessions');
      });
    },
  };
}
