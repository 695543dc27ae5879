import { setTimeout as pause } from 'node:timers/promises';
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Db, Transaction, Database } from './tables/tables.ts';
import { isPostgres } from './dialect.ts';
import { backoffMs } from '@phalanx/timing/backoff';
import { readerOf } from './sqlite/sqlite-dialect.ts';
import { errorCodeOf } from '../../kernel/errors/api-error.ts';
import { executeTransaction } from './commit-announcements.ts';

/** PostgreSQL's error codes for a conflict with another transaction, after which a retry would succeed. */
const collisions: ReadonlySet<string> = new Set(['40001', '40P01']);
const maxTries = 5;
const backoff = { firstMs: 10, jitter: 1 };

type Work<Result> = (transaction: Transaction) => Promise<Result>;

/**
 * Runs `work` in a transaction, with retries. `work` may be executed several times; a failed attempt stores nothing.
 */
export async function transact<Result>(db: Db, work: Work<Result>): Promise<Result> {
  // SQLite has one transaction at a time.
  if (!isPostgres(db)) return executeTransaction(db, db.transaction(), work);
  for (let tries = 1; ; tries += 1) {
    try {
      return await executeTransaction(db, db.transaction().setIsolationLevel('read committed'), work);
    } catch (error) {
      if (tries === maxTries || !collisions.has(errorCodeOf(error))) throw error;
      await pause(backoffMs(backoff, tries));
    }
  }
}

/**
 * Runs read-only `work` on a snapshot: everything that it reads is from one moment, even during writes. Blocks neither
 * writers nor the event loop.
 */
export const readSnapshot = <Result>(db: Db, work: Work<Result>): Promise<Result> =>
  isPostgres(db)
    ? db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work)
    : readerOf(db).transaction().execute(work);

/**
 * Takes the lock of this name and holds it until the transaction ends. Rows that were read before may have changed in
 * the meantime. SQLite needs no lock, because it has one transaction at a time.
 */
export async function serialize(transaction: Transaction, name: string): Promise<void> {
  if (isPostgres(transaction))
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(transaction);
}

/** Locks found rows against deletion until the transaction ends. SQLite has one transaction at a time. */
export const forKeyShare = <Table extends keyof Database, Found>(
  transaction: Transaction,
  query: SelectQueryBuilder<Database, Table, Found>,
): SelectQueryBuilder<Database, Table, Found> => (isPostgres(transaction) ? query.forKeyShare() : query);

/** Locks the rows that the query finds until the transaction ends. Skips rows that another transaction has locked. */
export const forUpdateSkipLocked = <Table extends keyof Database, Found>(
  transaction: Transaction,
  query: SelectQueryBuilder<Database, Table, Found>,
): SelectQueryBuilder<Database, Table, Found> =>
  isPostgres(transaction) ? query.forUpdate().skipLocked() : query;

/** Runs `work` while no other server runs work of this name. `work` stores in transactions of its own. */
export const withClusterLock = <Result>(db: Db, name: string, work: () => Promise<Result>): Promise<Result> =>
  isPostgres(db)
    ? transact(db, async (transaction) => {
        await serialize(transaction, name);
        return work();
      })
    : work();

/** Interval in ms of statements that keep the transaction from being terminated as idle. */
const aliveEveryMs = 10_000;

/**
 * Returns a function that runs shared work on one server at a time. It does nothing while another server runs the work.
 */
export const onOneServer =
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
