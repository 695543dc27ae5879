import type { Migration } from 'kysely/migration';

import { execute } from './001-schema/column-types.ts';

/** A launch keeps what limited the token that it was asked for with. Launches of before count as without limits. */
export const addLaunchLimits: Migration = {
  up: (db) => execute(db, ({ text }) => [`alter table launch add column token_limits ${text}`]),
};
