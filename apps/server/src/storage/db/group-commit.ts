import { setImmediate as nextTurn } from 'node:timers/promises';
import { SerialQueues } from '../../kernel/serial-queues.ts';
import { findFault } from '../../kernel/faults/fault-monitor.ts';
import type { Db, Transaction } from './tables/tables.ts';
import { isPostgres } from './dialect.ts';
import { transact } from './transactions.ts';
import { executeTransaction } from './commit-announcements.ts';

/**
 * Statements of one write. They may be executed again when another write of the group fails or two transactions
 * conflict.
 */
export type Write<Result> = (transaction: Transaction) => Promise<Result>;

/**
 * Time in ms after which a group is committed, because SQLite's statements block the event loop until their transaction
 * ends.
 */
const maxGroupMs = 5;

interface Waiting {
  write: Write<unknown>;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Groups writes. In SQLite, concurrent writes share a transaction and one disk flush. In PostgreSQL, each write is its
 * own transaction, because PostgreSQL groups flushes itself.
 */
export class GroupCommit {
  readonly #db: Db;
  #waiting: Waiting[] = [];
  #isWorking = false;
  readonly #queues = new SerialQueues();

  constructor(db: Db) {
    this.#db = db;
  }

  /**
   * Resolves when the write is durable. Rejects when it failed, and then nothing of it is stored. Writes of one queue
   * are executed in call order.
   */
  write<Result>(write: Write<Result>, queue?: string): Promise<Result> {
    if (isPostgres(this.#db)) return this.#writeAlone(write, queue);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.push({ write, resolve, reject });
    if (!this.#isWorking) {
      this.#isWorking = true;
      // Starts at the end of this turn of the event loop, so that other writes of the turn can join.
      setImmediate(() => void this.#work());
    }
    // `#commit` resolves with the result of `write`.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return promise as Promise<Result>;
  }

  #writeAlone<Result>(write: Write<Result>, queue: string | undefined): Promise<Result> {
    const commit = (): Promise<Result> => transact(this.#db, write);
    return queue === undefined ? commit() : this.#queues.run(queue, commit);
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#commit(this.#waiting.splice(0));
      if (this.#waiting.length > 0) await nextTurn();
    }
    this.#isWorking = false;
  }

  /** Commits the first writes of the group; the others wait for the next one. */
  async #commit(group: readonly Waiting[]): Promise<void> {
    let results: unknown[] = [];
    try {
      results = await executeTransaction(this.#db, this.#db.transaction(), (transaction) =>
        writeSome(transaction, group),
      );
    } catch (error) {
      // An environment fault would affect every write.
      if (group.length === 1 || findFault(error) !== undefined) for (const { reject } of group) reject(error);
      // One write fails; executed alone, it affects only itself.
      else for (const waiting of group) await this.#commit([waiting]);
      return;
    }
    this.#waiting.unshift(...group.slice(results.length));
    for (const [index, result] of results.entries()) group[index]?.resolve(result);
  }
}

async function writeSome(transaction: Transaction, group: readonly Waiting[]): Promise<unknown[]> {
  const endAt = performance.now() + maxGroupMs;
  const results: unknown[] = [];
  for (const { write } of group) {
    results.push(await write(transaction));
    if (performance.now() > endAt) break;
  }
  return results;
}
