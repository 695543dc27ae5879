import type { Migration } from 'kysely/migration';

export const deviceTables: Migration = {
  async up(db) {
    await db.schema
      .createTable('device')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('owner_id', 'text', (column) => column.notNull().references('user.id').onDelete('cascade'))
      .addColumn('serial', 'text', (column) => column.notNull())
      .addColumn('host_id', 'text', (column) => column.notNull())
      .addColumn('host_name', 'text', (column) => column.notNull())
      .addColumn('brand', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('android_version', 'text', (column) => column.notNull())
      .addColumn('sdk_version', 'bigint', (column) => column.notNull())
      .addColumn('screen_width', 'bigint', (column) => column.notNull())
      .addColumn('screen_height', 'bigint', (column) => column.notNull())
      .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('device_owner_serial', ['owner_id', 'serial'])
      .execute();
  },
};
