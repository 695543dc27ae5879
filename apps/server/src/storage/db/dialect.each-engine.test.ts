import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import { hasPart, rowsAs, textsIn } from './dialect.ts';

describe.each(engines)('rows that a statement brings along to %s', (engine) => {
  it('may be any number, with nulls and any text', async () => {
    const db = await openTestDatabase(engine);
    const rows = Array.from({ length: 100_000 }, (_, number) => ({
      name: `{"${number}", \\ '`,
      number: number % 2 === 0 ? number : null,
    }));
    const { rows: found } = await sql<{ name: string; number: number | null }>`SELECT given.name, given.number
      FROM ${rowsAs(db, 'given', { name: 'text', number: 'bigint' }, rows)}
      WHERE given.name IN ${textsIn(
        db,
        rows.slice(-2).map(({ name }) => name),
      )} ORDER BY given.name`.execute(db);
    expect(found).toEqual(rows.slice(-2));
  });
});

describe.each(engines)('a text that %s can not store as it is', (engine) => {
  it('is stored with U+FFFD in place of U+0000 and halves of pairs, whichever way it comes', async () => {
    const db = await openTestDatabase(engine);
    const odd = 'A\0B \uD83D';
    const wanted = 'A\uFFFDB \uFFFD';
    const one = await sql<{ text: string }>`SELECT ${odd} || '' AS text`.execute(db);
    expect(one.rows[0]?.text).toBe(wanted);
    const many = await sql<{
      name: string;
    }>`SELECT given.name FROM ${rowsAs(db, 'given', { name: 'text' }, [{ name: odd }])}
      WHERE given.name IN ${textsIn(db, [odd])}`.execute(db);
    expect(many.rows).toEqual([{ name: wanted }]);
  });
});

describe.each(engines)('a part of a text in %s', (engine) => {
  it('is found as it stands', async () => {
    const db = await openTestDatabase(engine);
    const has = async (text: string, part: string): Promise<boolean> => {
      const { rows } = await sql<{
        found: unknown;
      }>`SELECT ${hasPart(db, sql`lower(${text})`, sql`lower(${part})`)} AS found`.execute(db);
      return Boolean(rows[0]?.found);
    };
    expect(await has('100% of it', '00% o')).toBe(true);
    expect(await has('100 of it', '100%')).toBe(false);
    expect(await has('a\\b', '\\')).toBe(true);
    expect(await has('abc', 'a_c')).toBe(false);
    expect(await has('äöü', 'ö')).toBe(true);
  });
});

it('SQLite takes for a long part of similar texts not much longer than for a short one', async () => {
  const db = await openTestDatabase('SQLite');
  await sql`CREATE TABLE long_text AS SELECT ${'a'.repeat(4000)} AS text FROM json_each(${JSON.stringify(Array.from({ length: 200 }, () => 0))})`.execute(
    db,
  );
  const msOf = async (part: string): Promise<number> => {
    const since = performance.now();
    const { rows } = await sql`SELECT 1 FROM long_text WHERE ${hasPart(db, sql`text`, sql`${part}`)}`.execute(
      db,
    );
    expect(rows).toEqual([]);
    return performance.now() - since;
  };
  const least = async (part: string): Promise<number> =>
    Math.min(await msOf(part), await msOf(part), await msOf(part), await msOf(part));
  const long = `${'a'.repeat(100)}b${'a'.repeat(99)}`;
  expect((await least(long)) / (await least('bab'))).toBeLessThan(30);
});
