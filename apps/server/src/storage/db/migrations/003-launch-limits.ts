import type { Migration } from 'kysely/migration';

import { execute } from './001-schema/column-types.ts';

/** Adds the limits of the token that requested a launch. Existing launches count as unlimited. */
export const addLaunchLimits: Migration = {
  up: (db) => execute(db, ({ text }) => [`alter table launch add column token_limits ${text}`]),
};
