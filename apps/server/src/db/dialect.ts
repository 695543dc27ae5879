import { type Kysely, PostgresAdapter } from 'kysely';

/** Where the two engines want other words. Stores do not ask: what they need is in `rows.ts` and `locks.ts`. */
export const isPostgres = <Tables>(db: Kysely<Tables>): boolean =>
  db.getExecutor().adapter instanceof PostgresAdapter;
