import type { Db } from '../db/database.ts';

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  host: { owner_id: string; id: string; token_id: string | null; seen_at: number };
  token: { id: string; name: string; expires_at: number | null };
  device: { owner_id: string; host_id: string };
};

/** The token that a host connected with; null when it was revoked. */
export interface HostClaim {
  token_id: string | null;
  name: string | null;
  expires_at: number | null;
}

export type HostStore = ReturnType<typeof createHostStore>;

/** Which hosts users have, and the token of each. */
export function createHostStore(database: Db) {
  const db = database.withTables<Tables>();
  return {
    find: (ownerId: string, id: string): Promise<HostClaim | undefined> =>
      db
        .selectFrom('host')
        .leftJoin('token', 'token.id', 'host.token_id')
        .select(['host.token_id', 'token.name', 'token.expires_at'])
        .where('host.owner_id', '=', ownerId)
        .where('host.id', '=', id)
        .executeTakeFirst(),

    async save(host: { owner_id: string; id: string; token_id: string; seen_at: number }): Promise<void> {
      const { token_id, seen_at } = host;
      await db
        .insertInto('host')
        .values(host)
        .onConflict((conflict) => conflict.columns(['owner_id', 'id']).doUpdateSet({ token_id, seen_at }))
        .execute();
    },

    async count(ownerId: string): Promise<number> {
      const row = await db
        .selectFrom('host')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('owner_id', '=', ownerId)
        .executeTakeFirstOrThrow();
      return row.count;
    },

    /** Those without phones, the ones that were seen least recently first. */
    async listEmpty(ownerId: string): Promise<string[]> {
      const rows = await db
        .selectFrom('host')
        .leftJoin('device', (join) =>
          join.onRef('device.owner_id', '=', 'host.owner_id').onRef('device.host_id', '=', 'host.id'),
        )
        .select('host.id')
        .where('host.owner_id', '=', ownerId)
        .where('device.host_id', 'is', null)
        .orderBy('host.seen_at')
        .execute();
      return rows.map(({ id }) => id);
    },

    async delete(ownerId: string, id: string): Promise<void> {
      await db.deleteFrom('host').where('owner_id', '=', ownerId).where('id', '=', id).execute();
    },
  };
}
