import type { Migration } from 'kysely/migration';

import { execute } from './001-schema/column-types.ts';

/** Battery level of phones, as their hosts tell it. */
export const batteries: Migration = {
  async up(db) {
    await execute(db, () => ['alter table device add column battery_percent bigint']);
  },
};
