import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What hosts are called, so that all servers know all of them. */
export const hostNames: Migration = {
  async up(db) {
    const text = (name: string) =>
      db.schema.alterTable('host').addColumn(name, 'text', (column) => column.notNull().defaultTo(''));
    await text('given_id').execute();
    await text('name').execute();
    // Hosts that have not connected since hosts have rows.
    await sql`INSERT INTO host (owner_id, id, token_id, seen_at)
      SELECT owner_id, lower(host_id), NULL, max(last_seen_at) FROM device
      WHERE true GROUP BY owner_id, lower(host_id) ON CONFLICT DO NOTHING`.execute(db);
    const newest = (column: string) => sql`(SELECT ${sql.ref(column)} FROM device
      WHERE device.owner_id = host.owner_id AND lower(device.host_id) = host.id
      ORDER BY last_seen_at DESC LIMIT 1)`;
    await sql`UPDATE host SET given_id = coalesce(${newest('host_id')}, id), name = coalesce(${newest('host_name')}, '')`.execute(
      db,
    );
  },
};
