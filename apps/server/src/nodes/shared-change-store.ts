import { sql } from 'kysely';

import type { Db } from '../db/database.ts';
import type { ChangedThing } from '../db/shared-change.ts';

/** A server that has not read them for so long reads all anew. */
export const keptMs = 60_000;

export interface SharedChange {
  readonly id: number;
  readonly name: ChangedThing;
}

export type SharedChangeStore = ReturnType<typeof createSharedChangeStore>;

/** What has changed lately that servers know by heart. PostgreSQL's; its triggers write it. */
export function createSharedChangeStore(db: Db) {
  return {
    list: (): Promise<SharedChange[]> => db.selectFrom('shared_change').select(['id', 'name']).execute(),

    async deleteOld(): Promise<void> {
      const isOld = sql<boolean>`at < clock_timestamp() - ${sql.lit(`${keptMs} milliseconds`)}::interval`;
      await db.deleteFrom('shared_change').where(isOld).execute();
    },
  };
}
