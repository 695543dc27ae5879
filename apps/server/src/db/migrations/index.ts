import type { Migration } from 'kysely/migration';

import { schema } from './001-schema/index.ts';

/** In the order of their names. One that has been released is never changed: a later one corrects it. */
export const migrations: Record<string, Migration> = {
  '001-schema': schema,
};
