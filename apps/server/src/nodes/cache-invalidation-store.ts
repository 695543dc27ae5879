import { sql } from 'kysely';

import type { CachedThing } from '../db/tables/cached-things.ts';
import type { Db } from '../db/database.ts';
import { databaseTime } from '../db/lease.ts';

/** A server that has not read them for so long reads all caches again. */
export const keptMs = 60_000;

export interface CacheInvalidation {
  readonly id: number;
  readonly name: CachedThing;
}

export type CacheInvalidationStore = ReturnType<typeof createCacheInvalidationStore>;

/** What has changed in the last minute that servers cache. Triggers write it. */
export function createCacheInvalidationStore(db: Db) {
  return {
    list: (): Promise<CacheInvalidation[]> =>
      db.selectFrom('cache_invalidation').select(['id', 'name']).execute(),

    async deleteOld(): Promise<void> {
      await db
        .deleteFrom('cache_invalidation')
        .where('at', '<', sql<number>`${databaseTime(db)} - ${sql.lit(keptMs)}`)
        .execute();
    },
  };
}
