import { sql } from 'kysely';
import { change } from '../../storage/db/change-note.ts';
import type { Db } from '../../storage/db/database.ts';
import { countRows, roomWithin } from '../../storage/db/quota.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import type { SealedColumn, SealedRow, SealingKeyStore } from './sealing.ts';

export type StoredSecret = Row<'project_secret'>;
export type SecretStore = ReturnType<typeof createSecretStore>;

/** Returns the place of a sealed value. A value that was moved to another project or name can't be unsealed. */
export const placeOf = ({ project_id, name }: Pick<StoredSecret, 'project_id' | 'name'>): string =>
  `secret ${project_id} ${name}`;

/** Creates the store of the projects' sealed secrets. */
export function createSecretStore(db: Db) {
  return {
    list: (projectId: string): Promise<StoredSecret[]> =>
      db
        .selectFrom('project_secret')
        .selectAll()
        .where('project_id', '=', projectId)
        .orderBy('name')
        .execute(),

    /** Stores a secret. Stores nothing and returns undefined when the project already has `max` other secrets. */
    put: (
      secret: Pick<StoredSecret, 'project_id' | 'name' | 'sealed'>,
      { max, now }: { max: number; now: number },
    ): Promise<StoredSecret | undefined> =>
      change(db, async (transaction) => {
        const { project_id: owner, name } = secret;
        const own = transaction.selectFrom('project_secret').where('project_id', '=', owner);
        const others = own.where('name', '<>', name);
        const room = await roomWithin(transaction, { kind: 'secrets', owner, max }, () => countRows(others));
        if (room < 1) return undefined;
        const before = await own.selectAll().where('name', '=', name).executeTakeFirst();
        const after = {
          ...secret,
          version: (before?.version ?? 0) + 1,
          created_at: before?.created_at ?? now,
          updated_at: now,
        };
        await transaction
          .insertInto('project_secret')
          .values(after)
          .onConflict((conflict) => conflict.columns(['project_id', 'name']).doUpdateSet(after))
          .execute();
        return after;
      }),

    /** Deletes a secret. False when there is none. */
    delete: (projectId: string, name: string): Promise<boolean> =>
      change(db, async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('project_secret')
          .where('project_id', '=', projectId)
          .where('name', '=', name)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),
  };
}

/** Returns the column of sealed values, for resealing with a new key. */
export const sealedSecrets = (db: Db): SealedColumn => ({
  async listOfOtherKeys(keyId, limit) {
    const rows = await db
      .selectFrom('project_secret')
      .select(['project_id', 'name', 'sealed'])
      .where('sealed', 'not like', `v1.${keyId}.%`)
      .limit(limit)
      .execute();
    return rows.map((row) => ({ place: placeOf(row), sealed: row.sealed }));
  },

  replace: (before: SealedRow, sealed: string) =>
    db.updateTable('project_secret').set({ sealed }).where('sealed', '=', before.sealed).execute(),
});

export const createSealingKeyStore = (db: Db): SealingKeyStore => ({
  async claim(id) {
    const row = await db
      .updateTable('installation')
      .set({ sealing_key_id: sql`coalesce(sealing_key_id, ${id})` })
      .returning('sealing_key_id')
      .executeTakeFirstOrThrow();
    return row.sealing_key_id ?? id;
  },
  replace: (id) => db.updateTable('installation').set({ sealing_key_id: id }).execute(),
});
