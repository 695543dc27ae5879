import type { ShareRole } from '@phalanx/protocol';

import type { Db } from '../db/database.ts';

/** What is shared: a phone, or all phones of a host. Two owners may have hosts of one ID. */
export interface ShareTarget {
  owner_id: string;
  kind: 'device' | 'host';
  target_id: string;
}

export interface StoredShare extends ShareTarget {
  user_id: string;
  role: ShareRole;
}

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  share: StoredShare;
  user: { id: string; name: string };
};

export type ShareStore = ReturnType<typeof createShareStore>;

/** With whom phones are shared. */
export function createShareStore(database: Db) {
  const db = database.withTables<Tables>();
  return {
    listAll: (): Promise<StoredShare[]> => db.selectFrom('share').selectAll().execute(),

    listUsers: (): Promise<{ id: string; name: string }[]> =>
      db.selectFrom('user').select(['id', 'name']).execute(),

    async findUserName(id: string): Promise<string | undefined> {
      const row = await db.selectFrom('user').select('name').where('id', '=', id).executeTakeFirst();
      return row?.name;
    },

    async put(share: StoredShare): Promise<void> {
      await db
        .insertInto('share')
        .values(share)
        .onConflict((conflict) =>
          conflict.columns(['owner_id', 'kind', 'target_id', 'user_id']).doUpdateSet({ role: share.role }),
        )
        .execute();
    },

    async delete({ owner_id, kind, target_id }: ShareTarget, userId: string): Promise<void> {
      await db
        .deleteFrom('share')
        .where('owner_id', '=', owner_id)
        .where('kind', '=', kind)
        .where('target_id', '=', target_id)
        .where('user_id', '=', userId)
        .execute();
    },

    async deleteAll({ owner_id, kind, target_id }: ShareTarget): Promise<void> {
      await db
        .deleteFrom('share')
        .where('owner_id', '=', owner_id)
        .where('kind', '=', kind)
        .where('target_id', '=', target_id)
        .execute();
    },
  };
}
