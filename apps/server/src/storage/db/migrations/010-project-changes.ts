import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { execute } from './001-schema/column-types.ts';

/** When a project was changed last; of projects that are there already nobody knows it until they are changed again. */
export const projectChanges: Migration = {
  async up(db: Kysely<unknown>) {
    await execute(db, () => ['alter table project add column changed_at bigint']);
  },
};
