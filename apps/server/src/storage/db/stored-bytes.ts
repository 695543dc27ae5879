import type { Db } from './database.ts';
import type { StoredKind } from './tables/tables.ts';

/**
 * Reads the stored bytes per user. Triggers update the sums in the transaction that stores or deletes a record or a
 * project, so they are correct after every crash, and reading one is one seek.
 */
export function createStoredBytes(db: Db) {
  return {
    async count(userId: string, kind: StoredKind): Promise<number> {
      const row = await db
        .selectFrom('stored_bytes')
        .select('bytes')
        .where('user_id', '=', userId)
        .where('kind', '=', kind)
        .executeTakeFirst();
      return row?.bytes ?? 0;
    },
  };
}
