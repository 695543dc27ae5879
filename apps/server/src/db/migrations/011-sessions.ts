import type { Migration } from 'kysely/migration';

/** Browsers that are signed in; each with the token that stands behind it. */
export const sessionTables: Migration = {
  async up(db) {
    await db.schema
      .createTable('session')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('token_id', 'text', (column) => column.notNull().references('token.id').onDelete('cascade'))
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('used_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('session_token').on('session').column('token_id').execute();
  },
};
