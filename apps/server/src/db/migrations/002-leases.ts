import type { Migration } from 'kysely/migration';

import { execute } from './001-schema/column-types.ts';

/** The code that a lease keeps is counted in bytes, and its acts have numbers. */
export const leases: Migration = {
  up: (db) =>
    execute(db, () => [
      // Of each act, from 1 in each lease.
      'alter table lease_code add column number bigint not null default 1',
      'alter table lease_code add column size_bytes bigint not null default 0',
    ]),
};
