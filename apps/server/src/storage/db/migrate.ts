import { SettingError } from '@phalanx/settings';
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { migrations } from './migrations/index.ts';

const toMigrate =
  'The tables of the database are older than this release: run "phalanx migrate" with the same settings, then start the servers.';

const newerRelease = (cause?: Error): SettingError =>
  new SettingError(
    'The database was written by a newer release of Phalanx: install that release, or restore a backup made before the upgrade.',
    cause && { cause },
  );

/**
 * Migrates the tables in one transaction. Returns the names of the executed migrations. Throws a `SettingError` when
 * the tables belong to a newer release.
 */
export async function migrate<Tables>(db: Kysely<Tables>): Promise<string[]> {
  const provider = { getMigrations: async (): Promise<Record<string, Migration>> => migrations };
  const migrator = new Migrator({ db, provider, allowUnorderedMigrations: true });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error === undefined) return results.map(({ migrationName }) => migrationName);
  // Kysely's message for an executed migration that it does not know.
  if (error instanceof Error && error.message.startsWith('corrupted migrations')) throw newerRelease(error);
  throw new Error('the tables could not be migrated', { cause: error });
}

/**
 * Checks the tables for one of several servers, which leaves migrations to `phalanx migrate`. The tables may be newer
 * than the release, unless a migration requires that each server knows it. Throws a `SettingError`.
 */
export async function requireMigrated<Tables>(db: Kysely<Tables>): Promise<void> {
  const { rows: found } = await sql<{ tables: string | null }>`
    SELECT to_regclass('kysely_migration')::text AS tables`.execute(db);
  if (found[0]?.tables === null) throw new SettingError(toMigrate);
  const { rows: made } = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(db);
  const names = new Set(made.map(({ name }) => name));
  if (Object.keys(migrations).some((name) => !names.has(name))) throw new SettingError(toMigrate);
  const { rows } = await sql<{ needs: string }>`SELECT needs FROM installation`.execute(db);
  const needs = rows[0]?.needs ?? '';
  if (needs !== '' && migrations[needs] === undefined) throw newerRelease();
}
