import type { Migration } from 'kysely/migration';

import { isPostgres } from '../dialect.ts';
import { createTrigger } from '../triggers.ts';

/** Servers tell each other of browsers that have signed out. */
export const sessionChanges: Migration = {
  async up(db) {
    if (!isPostgres(db)) return;
    await createTrigger(db, {
      name: 'shared_change_sessions_0',
      on: 'after delete on session',
      statement: "insert into shared_change (name) values ('sessions')",
    });
  },
};
