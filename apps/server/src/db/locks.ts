import { sql } from 'kysely';

import type { Transaction } from './tables.ts';
import { isPostgres } from './dialect.ts';

/**
 * Waits until no other transaction has the lock of this name, and has it until this one ends. What was read before may
 * have changed meanwhile. SQLite has one transaction at a time.
 */
export async function serialize(transaction: Transaction, name: string): Promise<void> {
  if (isPostgres(transaction))
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(transaction);
}
