import type { Db, Transaction } from '../../storage/db/database.ts';
import { nameKey, isUniqueViolation } from '../../storage/db/dialect.ts';
import { countRows, roomWithin } from '../../storage/db/quota.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { transact } from '../../storage/db/transactions.ts';

export type StoredRunFile = Row<'run_file'>;

/** Stores the files that runs have attached; their contents are blobs. */
export function createRunFileStore(db: Db) {
  const ofRun = (runId: string) => db.selectFrom('run_file').where('run_id', '=', runId);
  return {
    /** Lists the files by name. */
    list: (runId: string): Promise<StoredRunFile[]> => ofRun(runId).selectAll().orderBy('name_key').execute(),

    find: (runId: string, name: string): Promise<StoredRunFile | undefined> =>
      ofRun(runId).selectAll().where('name_key', '=', nameKey(name)).executeTakeFirst(),

    count: (runId: string): Promise<number> => countRows(ofRun(runId)),

    /** Adds a file. Returns false when the run was deleted, already has a file of this name, or has `max` files. */
    async add(file: Omit<StoredRunFile, 'name_key'>, max: number): Promise<boolean> {
      const quota = { kind: 'files', owner: file.run_id, max };
      try {
        return await transact(db, async (transaction) => {
          const own = transaction.selectFrom('run_file').where('run_id', '=', file.run_id);
          if ((await roomWithin(transaction, quota, () => countRows(own))) < 1) return false;
          return insert(transaction, file);
        });
      } catch (error) {
        if (isUniqueViolation(error)) return false;
        throw error;
      }
    },
  };
}

/** Inserts a file. Returns false when the run was deleted. */
async function insert(
  transaction: Transaction,
  { name, ...file }: Omit<StoredRunFile, 'name_key'>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('run_file')
    .columns([
      'run_id',
      'name_key',
      'name',
      'file_id',
      'user_id',
      'content_type',
      'size_bytes',
      'sha256',
      'created_at',
    ])
    .expression((eb) =>
      eb
        .selectFrom('run')
        .select([
          'id',
          eb.val(nameKey(name)).as('name_key'),
          eb.val(name).as('name'),
          eb.val(file.file_id).as('file_id'),
          eb.val(file.user_id).as('user_id'),
          eb.val(file.content_type).as('content_type'),
          eb.val(file.size_bytes).as('size_bytes'),
          eb.val(file.sha256).as('sha256'),
          eb.val(file.created_at).as('created_at'),
        ])
        .where('id', '=', file.run_id),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export type RunFileStore = ReturnType<typeof createRunFileStore>;
