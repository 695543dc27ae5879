import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Every combination of type, status and completeness has one number and one column. */
const cellCount = 24;

async function createRecords(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('record')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('owner_id', 'text', (column) => column.notNull())
    .addColumn('automation_id', 'text', (column) => column.notNull())
    .addColumn('project_id', 'text')
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('device_id', 'text', (column) => column.notNull())
    .addColumn('device_info', 'text', (column) => column.notNull())
    .addColumn('automation_name', 'text', (column) => column.notNull())
    .addColumn('cell', 'bigint', (column) => column.notNull())
    .addColumn('tag', 'text', (column) => column.notNull())
    .addColumn('retention_group', 'text', (column) => column.notNull())
    .addColumn('saved', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('has_gap', 'bigint', (column) => column.notNull())
    .addColumn('missing_captures', 'bigint', (column) => column.notNull())
    .addColumn('added_at', 'bigint', (column) => column.notNull())
    .execute();
  const lists = ['owner_id', 'owner_id, tag', 'owner_id, automation_id', 'owner_id, automation_id, tag'];
  for (const [number, columns] of lists.entries()) {
    await sql.raw(`create index record_list_${number} on record (${columns}, cell, id)`).execute(db);
  }
  await db.schema
    .createIndex('record_retention')
    .on('record')
    .columns(['owner_id', 'automation_id', 'retention_group', 'id'])
    .execute();
  await sql`create index record_project on record (project_id) where project_id is not null`.execute(db);
  await sql`create index record_saved on record (id) where saved = 1`.execute(db);
}

async function createScreens(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('record_screen')
    .addColumn('record_id', 'text', (column) => column.notNull().references('record.id').onDelete('cascade'))
    .addColumn('position', 'bigint', (column) => column.notNull())
    .addColumn('screen_id', 'text', (column) => column.notNull())
    .addColumn('next_stage', 'text', (column) => column.notNull())
    .addColumn('screen_state', 'text', (column) => column.notNull())
    .addColumn('max_steps', 'bigint', (column) => column.notNull())
    .addColumn('captured_at', 'bigint', (column) => column.notNull())
    .addColumn('tree', 'text', (column) => column.notNull())
    .addColumn('screenshot', 'text', (column) => column.notNull())
    .addColumn('width', 'bigint', (column) => column.notNull())
    .addColumn('height', 'bigint', (column) => column.notNull())
    .addColumn('original_width', 'bigint', (column) => column.notNull())
    .addColumn('original_height', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('record_screen_key', ['record_id', 'screen_id'])
    .execute();
  /** Records that are gone and whose captures may still be there. */
  await db.schema
    .createTable('capture_deletion')
    .addColumn('record_id', 'text', (column) => column.primaryKey())
    .execute();
}

async function createTallies(db: Kysely<unknown>): Promise<void> {
  let table = db.schema
    .createTable('record_tally')
    .addColumn('list', 'text', (column) => column.notNull())
    .addColumn('node', 'text', (column) => column.notNull())
    .addColumn('is_split', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('n', 'bigint', (column) => column.notNull().defaultTo(0));
  for (let cell = 0; cell < cellCount; cell += 1) {
    table = table.addColumn(`c${cell}`, 'bigint', (column) => column.notNull().defaultTo(0));
  }
  await table.addPrimaryKeyConstraint('record_tally_key', ['list', 'node']).execute();
}

export const recordTables: Migration = {
  async up(db) {
    await createRecords(db);
    await createScreens(db);
    await createTallies(db);
  },
};
