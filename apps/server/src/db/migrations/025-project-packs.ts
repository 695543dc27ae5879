import type { Migration } from 'kysely/migration';

/** What a project is at its newest version, and the log of packs that its objects are in. */
export const projectPacks: Migration = {
  async up(db) {
    await db.schema
      .alterTable('project')
      .addColumn('version', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    for (const name of ['files', 'compiled', 'head'])
      await db.schema.alterTable('project').addColumn(name, 'text').execute();
    await db.schema
      .createTable('project_ref')
      .addColumn('project_id', 'text', (column) =>
        column.notNull().references('project.id').onDelete('cascade'),
      )
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('target', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('project_ref_key', ['project_id', 'name'])
      .execute();
    await db.schema
      .createTable('project_pack')
      .addColumn('project_id', 'text', (column) =>
        column.notNull().references('project.id').onDelete('cascade'),
      )
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addColumn('part', 'integer', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('size_bytes', 'bigint', (column) => column.notNull())
      .addColumn('large_key', 'text')
      .addColumn('pack', 'bytea')
      .addColumn('pack_index', 'bytea')
      .addPrimaryKeyConstraint('project_pack_key', ['project_id', 'version', 'part'])
      .execute();
    await db.schema
      .createIndex('project_pack_large')
      .on('project_pack')
      .column('large_key')
      .where('large_key', 'is not', null)
      .execute();
    await db.schema
      .createTable('large_pack_removal')
      .addColumn('large_key', 'text', (column) => column.primaryKey())
      .addColumn('removed_at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
