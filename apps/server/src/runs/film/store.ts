import type { Db } from '../../storage/db/database.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { isUniqueViolation } from '../../storage/db/dialect.ts';

export type StoredPart = Row<'film_part'>;

/** Stores the pictures and videos of films; their contents are blobs. */
export function createFilmStore(db: Db) {
  const ofRun = (runId: string) => db.selectFrom('film_part').where('run_id', '=', runId);
  return {
    /** Lists parts by number, after the number `after`. */
    list: (runId: string, { after, limit }: { after: number; limit: number }): Promise<StoredPart[]> =>
      ofRun(runId).selectAll().where('number', '>', after).orderBy('number').limit(limit).execute(),

    /** Lists pictures that were taken within a time span, and videos that overlap it. */
    listBetween: (
      runId: string,
      { from, to, limit }: { from: number; to: number; limit: number },
    ): Promise<StoredPart[]> =>
      ofRun(runId)
        .selectAll()
        .where((eb) => eb(eb.fn.coalesce('ended_at', 'taken_at'), '>=', from))
        .where('taken_at', '<=', to)
        .orderBy('number')
        .limit(limit)
        .execute(),

    find: (runId: string, number: number): Promise<StoredPart | undefined> =>
      ofRun(runId).selectAll().where('number', '=', number).executeTakeFirst(),

    /** Adds a part. Returns false when the run was deleted, or already has a part with this number. */
    async add(part: StoredPart): Promise<boolean> {
      const { run_id, number, part_id, user_id, taken_at, ended_at, width, height, size_bytes, no_video } =
        part;
      const insert = db
        .insertInto('film_part')
        .columns([
          'run_id',
          'number',
          'part_id',
          'user_id',
          'taken_at',
          'ended_at',
          'width',
          'height',
          'size_bytes',
          'no_video',
        ])
        .expression((eb) =>
          eb
            .selectFrom('run')
            .select([
              'id',
              eb.val(number).as('number'),
              eb.val(part_id).as('part_id'),
              eb.val(user_id).as('user_id'),
              eb.val(taken_at).as('taken_at'),
              eb.cast<number | null>(eb.val(ended_at), 'bigint').as('ended_at'),
              eb.val(width).as('width'),
              eb.val(height).as('height'),
              eb.val(size_bytes).as('size_bytes'),
              eb.cast<string | null>(eb.val(no_video), 'text').as('no_video'),
            ])
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
