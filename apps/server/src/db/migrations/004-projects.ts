import type { Migration } from 'kysely/migration';

export const projectTables: Migration = {
  async up(db) {
    await db.schema
      .createTable('project')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('owner_id', 'text', (column) => column.notNull().references('user.id').onDelete('cascade'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('project_owner').on('project').columns(['owner_id', 'id']).execute();
    await db.schema
      .createTable('project_member')
      .addColumn('project_id', 'text', (column) =>
        column.notNull().references('project.id').onDelete('cascade'),
      )
      .addColumn('user_id', 'text', (column) => column.notNull().references('user.id').onDelete('cascade'))
      .addColumn('role', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('project_member_key', ['project_id', 'user_id'])
      .execute();
    await db.schema
      .createIndex('project_member_user')
      .on('project_member')
      .columns(['user_id', 'project_id'])
      .execute();
  },
};
