import type { Db } from '../../storage/db/database.ts';
import { listEnqueued } from '../../storage/db/work-queue.ts';
import type { Row } from '../../storage/db/tables/tables.ts';

const pageRows = 5000;

type ScreenRow = Pick<Row<'record_screen'>, 'record_id' | 'position' | 'screen_id' | 'tree' | 'screenshot'>;

type RunFileRow = Pick<Row<'run_file'>, 'run_id' | 'name_key' | 'file_id'>;

type FilmRow = Pick<Row<'film_part'>, 'run_id' | 'number' | 'part_id' | 'ended_at'>;

type Cursor = Pick<ScreenRow, 'record_id' | 'position'>;

export type BackupStore = ReturnType<typeof createBackupStore>;

/** Lists the files that are stored beside the database, according to its rows. */
export function createBackupStore(db: Db) {
  return {
    /** Lists the screens of records, page by page. */
    async *listScreens(): AsyncGenerator<ScreenRow[]> {
      for (let after: Cursor | undefined = { record_id: '', position: -1 }; after !== undefined;) {
        const { record_id: recordId, position }: Cursor = after;
        const rows: ScreenRow[] = await db
          .selectFrom('record_screen')
          .select(['record_id', 'position', 'screen_id', 'tree', 'screenshot'])
          .where((eb) => eb(eb.refTuple('record_id', 'position'), '>', eb.tuple(recordId, position)))
          .orderBy('record_id')
          .orderBy('position')
          .limit(pageRows)
          .execute();
        yield rows;
        after = rows.at(-1);
      }
    },

    /** Lists the files of runs, page by page. */
    async *listRunFiles(): AsyncGenerator<RunFileRow[]> {
      let after: RunFileRow | undefined = { run_id: '', name_key: '', file_id: '' };
      while (after !== undefined) {
        const { run_id: runId, name_key: key }: RunFileRow = after;
        const rows: RunFileRow[] = await db
          .selectFrom('run_file')
          .select(['run_id', 'name_key', 'file_id'])
          .where((eb) => eb(eb.refTuple('run_id', 'name_key'), '>', eb.tuple(runId, key)))
          .orderBy('run_id')
          .orderBy('name_key')
          .limit(pageRows)
          .execute();
        yield rows;
        after = rows.at(-1);
      }
    },

    /** Lists the pictures and videos of films, page by page. */
    async *listFilmParts(): AsyncGenerator<FilmRow[]> {
      let after: FilmRow | undefined = { run_id: '', number: 0, part_id: '', ended_at: null };
      while (after !== undefined) {
        const { run_id: runId, number }: FilmRow = after;
        const rows: FilmRow[] = await db
          .selectFrom('film_part')
          .select(['run_id', 'number', 'part_id', 'ended_at'])
          .where((eb) => eb(eb.refTuple('run_id', 'number'), '>', eb.tuple(runId, number)))
          .orderBy('run_id')
          .orderBy('number')
          .limit(pageRows)
          .execute();
        yield rows;
        after = rows.at(-1);
      }
    },

    async listLargePacks(): Promise<string[]> {
      const rows = await db
        .selectFrom('project_pack')
        .select('large_key')
        .where('large_key', 'is not', null)
        .execute();
      return rows.flatMap(({ large_key: key }) => key ?? []);
    },

    /** Lists packs that no project references any more but that may still exist. */
    listRemovedPacks: (): Promise<string[]> => listEnqueued(db, 'delete large packs'),

    async listProjects(): Promise<string[]> {
      const rows = await db.selectFrom('project').select('id').orderBy('id').execute();
      return rows.map((row) => row.id);
    },
  };
}
