import type { Db } from '../../storage/db/database.ts';
import { nameKey, isUniqueViolation } from '../../storage/db/dialect.ts';
import type { Row } from '../../storage/db/tables/tables.ts';

export type StoredRunFile = Row<'run_file'>;

/** The files that runs have attached; their contents are blobs. */
export function createRunFileStore(db: Db) {
  const ofRun = (runId: string) => db.selectFrom('run_file').where('run_id', '=', runId);
  return {
    /** Lists the files by name. */
    list: (runId: string): Promise<StoredRunFile[]> => ofRun(runId).selectAll().orderBy('name_key').execute(),

    find: (runId: string, name: string): Promise<StoredRunFile | undefined> =>
      ofRun(runId).selectAll().where('name_key', '=', nameKey(name)).executeTakeFirst(),

    async count(runId: string): Promise<number> {
      const query = ofRun(runId).select((eb) => eb.fn.countAll<number>().as('count'));
      return Number((await query.executeTakeFirstOrThrow()).count);
    },

    /** Adds a file. False: the run is gone, or has a file of this name. */
    async add(file: Omit<StoredRunFile, 'name_key'>): Promise<boolean> {
      const insert = db
        .insertInto('run_file')
        .columns([
          ...(['run_id', 'name_key', 'name', 'file_id', 'user_id'] as const),
          ...(['content_type', 'size_bytes', 'sha256', 'created_at'] as const),
        ])
        .expression((eb) =>
          eb
            .selectFrom('run')
            .select(['id', eb.val(nameKey(file.name)).as('name_key'), eb.val(file.name).as('name')])
            .select([eb.val(file.file_id).as('file_id'), eb.val(file.user_id).as('user_id')])
            .select([eb.val(file.content_type).as('content_type'), eb.val(file.size_bytes).as('size_bytes')])
            .select([eb.val(file.sha256).as('sha256'), eb.val(file.created_at).as('created_at')])
            .where('id', '=', file.run_id),
        );
      try {
        return (await insert.executeTakeFirst()).numInsertedOrUpdatedRows === 1n;
      } catch (error) {
        if (isUniqueViolation(error)) return false;
        throw error;
      }
    },
  };
}

export type RunFileStore = ReturnType<typeof createRunFileStore>;
