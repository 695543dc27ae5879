import type { Migration } from 'kysely/migration';

import { execute } from './001-schema/column-types.ts';

/** Adds the problem that keeps a host from finding phones, as reported while it is connected. */
export const problemsOfHosts: Migration = {
  async up(db) {
    await execute(db, ({ text }) => [`alter table host_session add column problem ${text}`]);
  },
};
