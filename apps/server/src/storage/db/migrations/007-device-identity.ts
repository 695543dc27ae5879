import type { Migration } from 'kysely/migration';

import { execute } from './001-schema/column-types.ts';

/**
 * Identifies a device by its identity instead of its serial number, which are equal at first. The row of a phone
 * without a number of its own gets its host into its identity when that host reports it again.
 */
export const deviceIdentity: Migration = {
  async up(db) {
    await execute(db, ({ text }) => [
      'alter table device rename column serial to identity',
      `alter table device add column serial ${text} not null default ''`,
      'update device set serial = identity',
      ...['phone_mark', 'boot_mark'].map(
        (column) => `alter table device add column ${column} ${text} not null default ''`,
      ),
    ]);
  },
};
