import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import type { Db } from './database.ts';
import { GroupCommit } from './group-commit.ts';

describe.each(engines)('%s', (engine) => {
  let db: Db;
  let commits: GroupCommit;

  beforeEach(async () => {
    db = await openTestDatabase(engine);
    await sql`CREATE TABLE number (value INTEGER PRIMARY KEY)`.execute(db);
    commits = new GroupCommit(db);
  });

  const insert = (value: number): Promise<number> =>
    commits.write(async (transaction) => {
      await sql`INSERT INTO number VALUES (${value})`.execute(transaction);
      return value;
    });

  async function stored(): Promise<number[]> {
    const { rows } = await sql<{ value: number }>`SELECT value FROM number ORDER BY value`.execute(db);
    return rows.map((row) => row.value);
  }

  test('writes of one turn and of later ones are all stored, each with its result', async () => {
    const first = [insert(1), insert(2)];
    await new Promise(setImmediate);
    expect(await Promise.all([...first, insert(3)])).toEqual([1, 2, 3]);
    expect(await stored()).toEqual([1, 2, 3]);
  });

  test('many writes at once leave the event loop its turns, and stay in their order', async () => {
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 0);
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 40 }, (_, value) =>
        commits.write(async (transaction) => {
          const busyUntil = performance.now() + 3;
          while (performance.now() < busyUntil);
          await sql`INSERT INTO number VALUES (${value})`.execute(transaction);
          order.push(value);
        }, 'queue'),
      ),
    );
    clearInterval(ticking);
    expect(order).toEqual(Array.from({ length: 40 }, (_, value) => value));
    expect(turns).toBeGreaterThan(8);
  });

  test('a write that fails costs only itself', async () => {
    const outcomes = await Promise.allSettled([insert(1), insert(2), insert(1), insert(3)]);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(await stored()).toEqual([1, 2, 3]);
  });

  test('writes of one queue are done in their order, whatever becomes of them', async () => {
    const done: number[] = [];
    const steps = Array.from({ length: 50 }, (_, step) =>
      commits.write(async (transaction) => {
        await sql`SELECT 1`.execute(transaction);
        if (step % 7 === 3) throw new Error('refused');
        done.push(step);
      }, 'queue'),
    );
    await Promise.allSettled(steps);
    const last = done.lastIndexOf(0);
    expect(done.slice(last)).toEqual(
      Array.from({ length: 50 }, (_, step) => step).filter((step) => step % 7 !== 3),
    );
  });
});
