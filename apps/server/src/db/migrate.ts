import { SettingError } from '@phalanx/settings';
import type { Kysely } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';

import { migrations } from './migrations/index.ts';

const newerRelease = (cause: Error): SettingError =>
  new SettingError(
    'The database was written by a newer release of Phalanx: install that one, or restore the backup of before.',
    { cause },
  );

/** Brings the tables up to date, in one transaction. Throws a `SettingError` when they are of a newer release. */
export async function migrate<Tables>(db: Kysely<Tables>): Promise<void> {
  const provider = { getMigrations: async (): Promise<Record<string, Migration>> => migrations };
  const { error } = await new Migrator({ db, provider, allowUnorderedMigrations: true }).migrateToLatest();
  if (error === undefined) return;
  // Kysely's words for a migration that was made and that it does not know.
  if (error instanceof Error && error.message.startsWith('corrupted migrations')) throw newerRelease(error);
  throw new Error('the tables could not be brought up to date', { cause: error });
}
