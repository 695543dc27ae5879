import { setTimeout as wait } from 'node:timers/promises';

import type { Db, Transaction } from './tables/tables.ts';
import { isPostgres } from './dialect.ts';
import { errorCodeOf } from '../errors/error-code.ts';

/** PostgreSQL's: the transaction met another one, and would succeed if it were done again. */
const collisions: ReadonlySet<string> = new Set(['40001', '40P01']);
const mostTries = 5;
const longestPauseMs = 20;

type Work<Result> = (transaction: Transaction) => Promise<Result>;

/** `work` may be executed several times; nothing of what failed is stored. */
export async function transact<Result>(db: Db, work: Work<Result>): Promise<Result> {
  // SQLite has one transaction at a time.
  if (!isPostgres(db)) return db.transaction().execute(work);
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction().setIsolationLevel('read committed').execute(work);
    } catch (error) {
      if (tries === mostTries || !collisions.has(errorCodeOf(error))) throw error;
      await wait(Math.random() * longestPauseMs * tries);
    }
  }
}

/** Whatever is stored meanwhile, all that `work` reads is of one moment. It only reads. */
export const inOneMoment = <Result>(db: Db, work: Work<Result>): Promise<Result> =>
  isPostgres(db)
    ? db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work)
    : db.transaction().execute(work);
