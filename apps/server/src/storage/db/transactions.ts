import { setTimeout as wait } from 'node:timers/promises';
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Db, Transaction, Database } from './tables/tables.ts';
import { isPostgres } from './dialect.ts';
import { errorCodeOf } from '../../kernel/errors/api-error.ts';

/** PostgreSQL's: the transaction met another one, and would succeed if it were done again. */
const collisions: ReadonlySet<string> = new Set(['40001', '40P01']);
const maxTries = 5;
const maxPauseMs = 20;

type Work<Result> = (transaction: Transaction) => Promise<Result>;

/** `work` may be executed several times; nothing of what failed is stored. */
export async function transact<Result>(db: Db, work: Work<Result>): Promise<Result> {
  // SQLite has one transaction at a time.
  if (!isPostgres(db)) return db.transaction().execute(work);
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction().setIsolationLevel('read committed').execute(work);
    } catch (error) {
      if (tries === maxTries || !collisions.has(errorCodeOf(error))) throw error;
      await wait(Math.random() * maxPauseMs * tries);
    }
  }
}

/** Whatever is stored meanwhile, all that `work` reads is of one moment. It only reads. */
export const inOneMoment = <Result>(db: Db, work: Work<Result>): Promise<Result> =>
  isPostgres(db)
    ? db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work)
    : db.transaction().execute(work);

/**
 * Waits until no other transaction has the lock of this name, and has it until this one ends. What was read before may
 * have changed meanwhile. SQLite has one transaction at a time.
 */
export async function serialize(transaction: Transaction, name: string): Promise<void> {
  if (isPostgres(transaction))
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(transaction);
}

/** Nobody deletes the rows that the query finds before the transaction ends. SQLite has one transaction at a time. */
export const keepRows = <Table extends keyof Database, Found>(
  transaction: Transaction,
  query: SelectQueryBuilder<Database, Table, Found>,
): SelectQueryBuilder<Database, Table, Found> => (isPostgres(transaction) ? query.forKeyShare() : query);

/** Leaves out the rows that another transaction is at, and has the others until this one ends. */
export const takeRows = <Table extends keyof Database, Found>(
  transaction: Transaction,
  query: SelectQueryBuilder<Database, Table, Found>,
): SelectQueryBuilder<Database, Table, Found> =>
  isPostgres(transaction) ? query.forUpdate().skipLocked() : query;

/** Does it when no other server does what has this name. What it stores, it stores by itself. */
export const exclusively = <Result>(db: Db, name: string, work: () => Promise<Result>): Promise<Result> =>
  isPostgres(db)
    ? transact(db, async (transaction) => {
        await serialize(transaction, name);
        return work();
      })
    : work();

/** A connection that is idle in a transaction for longer is ended. */
const aliveEveryMs = 10_000;

/** Work on what all servers share, which one of them does at a time: where another one is at it, nothing is done. */
export const byOneServer =
  (db: Db, name: string, work: () => Promise<void>): (() => Promise<void>) =>
  () =>
    isPostgres(db)
      ? transact(db, async (transaction) => {
          const { rows } = await sql<{ mine: boolean }>`
            SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) AS mine`.execute(transaction);
          if (rows[0]?.mine === true) await keepingAlive(transaction, work);
        })
      : work();

async function keepingAlive(transaction: Transaction, work: () => Promise<void>): Promise<void> {
  const timer = setInterval(
    () => void sql`SELECT 1`.execute(transaction).catch(() => undefined),
    aliveEveryMs,
  );
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
}
