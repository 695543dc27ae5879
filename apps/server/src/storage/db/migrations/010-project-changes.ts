import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { execute } from './001-schema/column-types.ts';

/** Adds the time of the last change of a project; unknown for existing projects until their next change. */
export const projectChanges: Migration = {
  async up(db: Kysely<unknown>) {
    await execute(db, () => ['alter table project add column changed_at bigint']);
  },
};
