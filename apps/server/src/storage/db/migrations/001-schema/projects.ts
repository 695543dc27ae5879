import type { Kysely } from 'kysely';

import { execute } from './column-types.ts';

/** Creates the tables of projects, their members, and the log of git packs that contain their objects. */
export const createProjects = (db: Kysely<unknown>): Promise<void> =>
  execute(db, ({ text, bytes }) => [
    `create table project (
      id ${text} primary key, owner_id ${text} not null references "user" (id) on delete cascade,
      name ${text} not null, name_key ${text} not null, created_at bigint not null,
      size_bytes bigint not null default 0, version bigint not null default 0,
      files ${text}, compiled ${text}, head ${text})`,
    'create index project_owner on project (owner_id, id)',
    'create unique index project_name on project (owner_id, name_key)',
    `create table project_member (
      project_id ${text} not null references project (id) on delete cascade,
      user_id ${text} not null references "user" (id) on delete cascade,
      role ${text} not null, primary key (project_id, user_id))`,
    'create index project_member_user on project_member (user_id, project_id)',
    // Sealed with a key that is stored in a file beside the database.
    `create table project_secret (
      project_id ${text} not null references project (id) on delete cascade,
      name ${text} not null, version bigint not null, sealed ${text} not null, created_at bigint not null,
      updated_at bigint not null, primary key (project_id, name))`,
    `create table project_ref (
      project_id ${text} not null references project (id) on delete cascade,
      name ${text} not null, target ${text} not null, primary key (project_id, name))`,
    `create table project_pack (
      project_id ${text} not null references project (id) on delete cascade,
      version bigint not null, part integer not null, hash ${text} not null, size_bytes bigint not null,
      large_key ${text}, pack ${bytes}, pack_index ${bytes}, primary key (project_id, version, part))`,
    'create index project_pack_large on project_pack (large_key) where large_key is not null',
    `create table large_pack_removal (large_key ${text} primary key, removed_at bigint not null)`,
  ]);
