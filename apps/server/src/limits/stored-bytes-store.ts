import type { Db } from '../db/database.ts';

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  stored_bytes: { user_id: string; kind: StoredKind; bytes: number };
};

type StoredKind = 'captures' | 'projects' | 'logs';

/**
 * The bytes that users have stored. Triggers keep the sums, in the transaction that stores or deletes a record or a
 * project: they are right after every crash, and reading one is one seek.
 */
export function createStoredBytes(database: Db) {
  const db = database.withTables<Tables>();
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
