import type { Migration } from 'kysely/migration';

import { execute } from './001-schema/column-types.ts';

/** Problem that keeps a host from finding phones, as it tells while it is connected. */
export const problemsOfHosts: Migration = {
  async up(db) {
    await execute(db, ({ text }) => [`alter table host_session add column problem ${text}`]);
  },
};
