import type { Db } from '../../db/database.ts';
import { textsIn } from '../../db/rows.ts';
import { transact } from '../../db/transact.ts';
import { type ChunkHeader, parseHeader } from './kept-chunk.ts';
import type { KeptChunks } from './kept-logs.ts';

function headerIn(text: string): ChunkHeader {
  const header = parseHeader(text);
  if (header === undefined) throw new Error(`not the header of a chunk: ${text}`);
  return header;
}

/** In PostgreSQL, for each server to read: a chunk is a row. They are deleted with their runs. */
export function createKeptChunkStore(db: Db): KeptChunks {
  return {
    async findLast(runId) {
      const { sizeBytes } = await db
        .selectFrom('kept_chunk')
        .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('size_bytes'), eb.lit(0)).as('sizeBytes'))
        .where('run_id', '=', runId)
        .executeTakeFirstOrThrow();
      const last = await db
        .selectFrom('kept_chunk')
        .select('header')
        .where('run_id', '=', runId)
        .orderBy('first', 'desc')
        .limit(1)
        .executeTakeFirst();
      return last && { header: headerIn(last.header), sizeBytes };
    },

    async list(runId) {
      const rows = await db
        .selectFrom('kept_chunk')
        .select(['header', 'packed'])
        .where('run_id', '=', runId)
        .orderBy('first')
        .execute();
      return rows.map(({ header, packed }) => ({ header: headerIn(header), packed }));
    },

    /** A run that is gone keeps nothing. */
    async add(runId, { header, packed }, bytes) {
      await transact(db, async (transaction) => {
        const run = await transaction
          .selectFrom('run')
          .select('id')
          .where('id', '=', runId)
          .forKeyShare()
          .executeTakeFirst();
        if (run === undefined) return;
        const { first } = header;
        const row = {
          run_id: runId,
          first,
          header: JSON.stringify(header),
          size_bytes: bytes.length,
          packed,
        };
        await transaction.insertInto('kept_chunk').values(row).execute();
      });
    },

    async keepOnly(runId, chunks) {
      const firsts = chunks.map(({ header }) => header.first);
      await db
        .deleteFrom('kept_chunk')
        .where('run_id', '=', runId)
        .where('first', 'not in', firsts)
        .execute();
    },

    async delete(runIds) {
      await db.deleteFrom('kept_chunk').where('run_id', 'in', textsIn(db, runIds)).execute();
    },
  };
}
