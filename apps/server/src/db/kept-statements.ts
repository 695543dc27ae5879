import type Database from 'better-sqlite3';
import type { SqliteDatabase } from 'kysely';

/** Texts with lists of their own come once; then all are forgotten, and the hot ones are soon back. */
const maxKept = 500;

/** Kysely prepares every query anew, which takes longer than most of them; here a text is prepared once. */
export function keepStatements(sqlite: Database.Database): SqliteDatabase {
  const kept = new Map<string, Database.Statement>();
  return {
    prepare(text) {
      const known = kept.get(text);
      if (known !== undefined) return known;
      if (kept.size >= maxKept) kept.clear();
      const statement = sqlite.prepare(text);
      kept.set(text, statement);
      return statement;
    },
    close: () => void sqlite.close(),
  };
}
