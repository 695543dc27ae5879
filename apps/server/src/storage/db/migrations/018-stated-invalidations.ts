import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { dropTrigger, execute } from './001-schema/column-types.ts';

/** Triggers that invalidated caches, by table. */
const triggers: Record<string, readonly string[]> = {
  token: ['access_delete_on_token'],
  '"user"': [
    'access_update_of_name_role_disabled_at_on_user_',
    'access_delete_on_user_',
    'shares_insert_on_user_',
    'shares_update_of_name_on_user_',
    'shares_delete_on_user_',
  ],
  share: ['shares_insert_on_share', 'shares_update_on_share', 'shares_delete_on_share'],
  project_member: [
    'people_insert_on_project_member',
    'people_update_on_project_member',
    'people_delete_on_project_member',
  ],
  project: ['people_update_of_owner_id_on_project', 'people_delete_on_project'],
  device_lease: [
    'leases_insert_on_device_lease',
    'leases_update_on_device_lease',
    'leases_delete_on_device_lease',
  ],
  label_set: ['labels_insert_on_label_set', 'labels_update_on_label_set', 'labels_delete_on_label_set'],
  pool: ['labels_insert_on_pool', 'labels_update_on_pool', 'labels_delete_on_pool'],
  session: ['sessions_delete_on_session'],
};

/** Drops the triggers that invalidated caches: the transaction of a change now states which caches are stale. */
export const statedInvalidations: Migration = {
  async up(db: Kysely<unknown>) {
    for (const [table, names] of Object.entries(triggers))
      for (const name of names) await dropTrigger(db, `invalidate_${name}`, table);
    // Servers of earlier releases rely on the triggers.
    await execute(db, () => [`update installation set needs = '018-stated-invalidations'`]);
  },
};
