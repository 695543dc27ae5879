import type { Migration } from 'kysely/migration';

import { createTrigger, execute } from './001-schema/column-types.ts';

const count = (deviceId: string): string =>
  `update device set lease_changes = lease_changes + 1 where id = ${deviceId}`;

/** Counts the bytes of the code that a lease keeps, and the leases of each device that have begun or ended. */
export const leases: Migration = {
  async up(db) {
    await execute(db, () => [
      // Number of the act, from 1 in each lease.
      'alter table lease_code add column number bigint not null default 1',
      'alter table lease_code add column size_bytes bigint not null default 0',
      'alter table device add column lease_changes bigint not null default 0',
    ]);
    await createTrigger(db, {
      name: 'lease_begins',
      on: 'after insert on device_lease',
      statement: count('new.device_id'),
    });
    // A new lease reuses the row of an expired one.
    await createTrigger(db, {
      name: 'lease_follows',
      on: 'after update of id on device_lease',
      when: 'old.id <> new.id',
      statement: count('new.device_id'),
    });
    await createTrigger(db, {
      name: 'lease_ends',
      on: 'after delete on device_lease',
      statement: count('old.device_id'),
    });
  },
};
