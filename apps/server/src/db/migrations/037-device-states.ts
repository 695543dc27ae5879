import type { Migration } from 'kysely/migration';

/** What hosts last said of their devices, and on which connection; what servers have to know of one that another has. */
export const deviceStates: Migration = {
  async up(db) {
    for (const add of [
      db.schema
        .alterTable('device')
        .addColumn('state', 'text', (column) => column.notNull().defaultTo('offline')),
      db.schema.alterTable('device').addColumn('reason', 'text', (column) => column.notNull().defaultTo('')),
      db.schema.alterTable('device').addColumn('since', 'bigint', (column) => column.notNull().defaultTo(0)),
      db.schema.alterTable('device').addColumn('epoch', 'bigint'),
      db.schema
        .alterTable('host_session')
        .addColumn('knows_masks', 'bigint', (column) => column.notNull().defaultTo(0)),
    ])
      await add.execute();
  },
};
