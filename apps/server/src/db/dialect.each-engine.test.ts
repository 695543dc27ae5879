import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openTestDatabase, engines } from '../testing/engines/test-database.ts';
import { rowsAs, textsIn } from './dialect.ts';

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
