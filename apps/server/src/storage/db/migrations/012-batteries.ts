import type { Migration } from 'kysely/migration';

import { execute } from './001-schema/column-types.ts';

/** How full the batteries of phones are, as their hosts tell. */
export const batteries: Migration = {
  async up(db) {
    await execute(db, () => ['alter table device add column battery_percent bigint']);
  },
};
