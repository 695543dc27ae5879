import type { Migration } from 'kysely/migration';

import { execute } from './001-schema/column-types.ts';

/** Adds the battery level of phones, as reported by their hosts. */
export const batteries: Migration = {
  async up(db) {
    await execute(db, () => ['alter table device add column battery_percent bigint']);
  },
};
