import type { Migration } from 'kysely/migration';

export const runTables: Migration = {
  async up(db) {
    await db.schema
      .createTable('launch')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull().references('user.id').onDelete('cascade'))
      .addColumn('launch_id', 'text')
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .addColumn('answer', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('launch_user_launch_id', ['user_id', 'launch_id'])
      .execute();
    await db.schema.createIndex('launch_created').on('launch').column('created_at').execute();
    await db.schema
      .createTable('run')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('launch', 'text', (column) => column.notNull().references('launch.id').onDelete('cascade'))
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('device_id', 'text', (column) => column.notNull())
      .addColumn('host_id', 'text', (column) => column.notNull())
      .addColumn('automation_id', 'text', (column) => column.notNull())
      .addColumn('launch_id', 'text')
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('stop_requested', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('error_code', 'text')
      .addColumn('error_message', 'text')
      .addColumn('commit', 'text')
      .addColumn('dirty', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('started_at', 'bigint')
      .addColumn('ended_at', 'bigint')
      .execute();
    await db.schema.createIndex('run_user').on('run').columns(['user_id', 'id']).execute();
    await db.schema.createIndex('run_user_status').on('run').columns(['user_id', 'status', 'id']).execute();
    await db.schema.createIndex('run_device').on('run').columns(['device_id', 'id']).execute();
    await db.schema.createIndex('run_automation').on('run').columns(['automation_id', 'id']).execute();
    await db.schema.createIndex('run_launch').on('run').column('launch').execute();
    // The runs that have not ended are few, whatever is stored: a start of the server reads only them.
    await db.schema
      .createIndex('run_active')
      .on('run')
      .column('status')
      .where('status', 'in', ['starting', 'running'])
      .execute();
  },
};
