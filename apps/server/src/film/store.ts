import type { Db } from '../db/database.ts';
import type { Row } from '../db/tables/tables.ts';
import { isUniqueViolation } from '../db/unique-violation.ts';

export type StoredPicture = Row<'film_picture'>;

/** The pictures of the films of runs; the pictures themselves are blobs. */
export function createFilmStore(db: Db) {
  const ofRun = (runId: string) => db.selectFrom('film_picture').where('run_id', '=', runId);
  return {
    /** In their order, after that number. */
    list: (runId: string, { after, limit }: { after: number; limit: number }): Promise<StoredPicture[]> =>
      ofRun(runId).selectAll().where('number', '>', after).orderBy('number').limit(limit).execute(),

    /** Those that were taken from one moment to another. */
    listBetween: (
      runId: string,
      { from, to, limit }: { from: number; to: number; limit: number },
    ): Promise<StoredPicture[]> =>
      ofRun(runId)
        .selectAll()
        .where('taken_at', '>=', from)
        .where('taken_at', '<=', to)
        .orderBy('number')
        .limit(limit)
        .execute(),

    find: (runId: string, number: number): Promise<StoredPicture | undefined> =>
      ofRun(runId).selectAll().where('number', '=', number).executeTakeFirst(),

    /** False: the run is gone, or has a picture of this number. */
    async add(picture: StoredPicture): Promise<boolean> {
      const { run_id, number, picture_id, user_id, taken_at, width, height, size_bytes } = picture;
      const insert = db
        .insertInto('film_picture')
        .columns(['run_id', 'number', 'picture_id', 'user_id', 'taken_at', 'width', 'height', 'size_bytes'])
        .expression((eb) =>
          eb
            .selectFrom('run')
            .select(['id', eb.val(number).as('number'), eb.val(picture_id).as('picture_id')])
            .select([eb.val(user_id).as('user_id'), eb.val(taken_at).as('taken_at')])
            .select([eb.val(width).as('width'), eb.val(height).as('height')])
            .select(eb.val(size_bytes).as('size_bytes'))
            .where('id', '=', run_id),
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

export type FilmStore = ReturnType<typeof createFilmStore>;
