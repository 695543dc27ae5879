import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openTestDatabase } from '../../../testing/engines/test-database.ts';
import type { Db } from '../database.ts';
import { readSnapshot, transact } from '../transactions.ts';
import { enqueue } from '../work-queue.ts';

const add = (db: Db, key: string): Promise<void> =>
  transact(db, (transaction) => enqueue(transaction, 'delete captures', [{ key }]));

const list = async (db: Db): Promise<string[]> =>
  (await db.selectFrom('work').select('key').execute()).map((row) => row.key);

describe('a transaction of SQLite that only reads', () => {
  it('sees one moment, and what is written meanwhile is neither held up nor seen', async () => {
    const db = await openTestDatabase('SQLite');
    await add(db, 'before');
    await readSnapshot(db, async (transaction) => {
      expect(await list(transaction)).toEqual(['before']);
      await add(db, 'meanwhile');
      expect(await list(transaction)).toEqual(['before']);
    });
    expect(await readSnapshot(db, list)).toEqual(['before', 'meanwhile']);
  });

  it('leaves the event loop to others, however long a statement takes', async () => {
    const db = await openTestDatabase('SQLite');
    let turns = 0;
    const counter = setInterval(() => (turns += 1), 1);
    const counted = await readSnapshot(db, (transaction) =>
      sql<{
        n: number;
      }>`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 1000000)
        select count(*) as n from numbers`.execute(transaction),
    );
    clearInterval(counter);
    expect(counted.rows).toEqual([{ n: 1_000_000 }]);
    expect(turns).toBeGreaterThan(10);
  });

  it('cannot write, and fails with the code of SQLite', async () => {
    const db = await openTestDatabase('SQLite');
    const writing = readSnapshot(db, (transaction) =>
      enqueue(transaction, 'delete captures', [{ key: 'a' }]),
    );
    await expect(writing).rejects.toMatchObject({ code: 'SQLITE_READONLY' });
    expect(await readSnapshot(db, list)).toEqual([]);
  });
});
