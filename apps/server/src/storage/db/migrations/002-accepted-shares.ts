import type { Migration } from 'kysely/migration';

import { databaseTime } from '../lease.ts';
import { execute } from './001-schema/column-types.ts';

/**
 * Adds acceptance of shares: a share takes effect when its recipient accepts it; null while it is pending. Existing
 * shares count as accepted. Secrets of projects go to the hosts of users that the project lists.
 */
export const acceptedShares: Migration = {
  async up(db) {
    const now = databaseTime(db).compile(db).sql;
    await execute(db, ({ text }) => [
      ...['share', 'project_member'].flatMap((table) => [
        `alter table ${table} add column shared_at bigint`,
        `alter table ${table} add column accepted_at bigint`,
        `update ${table} set accepted_at = ${now}`,
      ]),
      'create index share_user on share (user_id)',
      `create table secret_recipient (
        project_id ${text} not null references project (id) on delete cascade,
        user_id ${text} not null references "user" (id) on delete cascade,
        added_at bigint not null, primary key (project_id, user_id))`,
    ]);
  },
};
