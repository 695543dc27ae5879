import type { Migration } from 'kysely/migration';

export const runDetails: Migration = {
  async up(db) {
    for (const column of ['token_name', 'project_name', 'tree', 'parameters']) {
      await db.schema.alterTable('launch').addColumn(column, 'text').execute();
    }
    for (const column of ['outcome', 'error_stack']) {
      await db.schema.alterTable('run').addColumn(column, 'text').execute();
    }
    // A table of its own: a result may be large, and lists of runs do not show it.
    await db.schema
      .createTable('run_result')
      .addColumn('run_id', 'text', (column) => column.primaryKey().references('run.id').onDelete('cascade'))
      .addColumn('json', 'text', (column) => column.notNull())
      .execute();
    await db.schema.alterTable('record').addColumn('error', 'text').execute();
    await db.schema.createIndex('record_run').on('record').columns(['run_id', 'id']).execute();
  },
};
