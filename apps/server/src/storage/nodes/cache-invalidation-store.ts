import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { databaseTime } from '../db/lease.ts';
import type { CachedThing } from '../db/tables/column-types.ts';

/** Time for which cache invalidations are kept; a server that has not read them for half of it reloads all caches. */
export const keptMs = 60_000;

export interface CacheInvalidation {
  readonly id: number;
  readonly name: CachedThing;
}

/** Invalidations of the last minute of what servers cache. `invalidate` writes them. */
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
