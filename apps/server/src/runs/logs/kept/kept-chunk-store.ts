import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { sql } from 'kysely';
import type { Db } from '../../../storage/db/database.ts';
import { forKeyShare, transact } from '../../../storage/db/transactions.ts';
import { textsIn, rowsAs } from '../../../storage/db/dialect.ts';
import type { EntryKind } from '../log-batch.ts';

const pack = promisify(zstdCompress);
const unpack = promisify(zstdDecompress);

/** State of the kept log, or the kept trace, of a run. */
export interface KeptState {
  sizeBytes: number;
  /** ID of the last entry; empty when there is none. */
  lastId: string;
  /** Number that the next entry gets. */
  next: number;
}

export type KeptChunkStore = ReturnType<typeof createKeptChunkStore>;

/** The kept logs, or traces, of runs: a chunk is a row. Those of runs that are gone are deleted later, some at a time. */
export function createKeptChunkStore(db: Db, kind: EntryKind) {
  return {
    /** Reads the states of runs. Runs of which nothing is kept are missing. */
    async statesOf(runIds: readonly string[]): Promise<Map<string, KeptState>> {
      const rows = await db
        .selectFrom((eb) =>
          eb
            .selectFrom('kept_chunk')
            .select(['run_id', (of) => of.fn.sum<number>('size_bytes').as('sizeBytes')])
            .select((of) => of.fn.max('first').as('first'))
            .where('kind', '=', kind)
            .where('run_id', 'in', textsIn(db, runIds))
            .groupBy('run_id')
            .as('all'),
        )
        .innerJoin('kept_chunk as last', (join) =>
          join.onRef('last.run_id', '=', 'all.run_id').onRef('last.first', '=', 'all.first'),
        )
        .where('last.kind', '=', kind)
        .select(['last.run_id', 'last.last_id as lastId', 'all.sizeBytes'])
        .select(sql<number>`last.first + last.count`.as('next'))
        .execute();
      return new Map(rows.map(({ run_id: runId, ...state }) => [runId, state]));
    },

    list: (runId: string): Promise<KeptChunk[]> =>
      db
        .selectFrom('kept_chunk')
        .select(['first', 'count', 'last_id', 'packed'])
        .where('run_id', '=', runId)
        .where('kind', '=', kind)
        .orderBy('first')
        .execute(),

    /** Stores all chunks, or none. A run that is gone keeps nothing. */
    add: (chunks: ReadonlyMap<string, KeptChunk>): Promise<void> =>
      transact(db, async (transaction) => {
        const runs = transaction
          .selectFrom('run')
          .select('id')
          .where('id', 'in', textsIn(transaction, [...chunks.keys()]));
        const rows = (await forKeyShare(transaction, runs).execute()).flatMap(({ id }) => {
          const chunk = chunks.get(id);
          return chunk === undefined ? [] : { run_id: id, kind, ...chunk, size_bytes: chunk.packed.length };
        });
        if (rows.length > 0) await transaction.insertInto('kept_chunk').values(rows).execute();
      }),

    /** Deletes the chunks of the run but these. */
    async keepOnly(runId: string, chunks: readonly KeptChunk[]): Promise<void> {
      const firsts = chunks.map(({ first }) => first);
      await db
        .deleteFrom('kept_chunk')
        .where('run_id', '=', runId)
        .where('kind', '=', kind)
        .where('first', 'not in', firsts)
        .execute();
    },

    /** Reads the size of each run's kept chunks, logs and traces together. */
    async sizesOf(runIds: readonly string[]): Promise<Map<string, number>> {
      const rows = await db
        .selectFrom('kept_chunk')
        .select(['run_id', (of) => of.fn.sum<number>('size_bytes').as('bytes')])
        .where('run_id', 'in', textsIn(db, runIds))
        .groupBy('run_id')
        .execute();
      return new Map(rows.map(({ run_id: runId, bytes }) => [runId, bytes]));
    },

    /** Deletes the chunks of runs, logs and traces. */
    async delete(runIds: readonly string[]): Promise<void> {
      await db.deleteFrom('kept_chunk').where('run_id', 'in', textsIn(db, runIds)).execute();
    },
  };
}

/** Some entries of a run as they are kept. */
export interface KeptChunk {
  /** Number of its first entry among those that were kept of the run, from 1: a gap shows what was left out later. */
  first: number;
  count: number;
  /** ID of its last entry. */
  last_id: string;
  /** The entries, compressed. */
  packed: Buffer;
}

/** Entries of a run on their way to be kept. */
export type NewChunk = Pick<KeptChunk, 'count' | 'last_id'> & {
  /** The JSON of each entry, joined by `entrySeparator`. */
  entries: Buffer;
};

export async function packChunk({ entries, ...about }: NewChunk, first: number): Promise<KeptChunk> {
  return { first, ...about, packed: await pack(entries) };
}

/** The JSON of each entry, joined by `entrySeparator`. */
export async function textIn({ packed }: KeptChunk): Promise<string> {
  return (await unpack(packed)).toString();
}

export type KeptBytesStore = ReturnType<typeof createKeptBytesStore>;

/** Bytes of the kept logs, by run. */
export function createKeptBytesStore(db: Db) {
  return {
    /** Saves the sizes of kept logs. Returns the users whose runs they are; a run that is gone counts nothing. */
    async save(sizes: ReadonlyMap<string, number>): Promise<Set<string>> {
      const rowsOfRuns = Array.from(sizes, ([run_id, bytes]) => ({ run_id, bytes }));
      const size = rowsAs(db, 'size', { run_id: 'text', bytes: 'bigint' }, rowsOfRuns);
      const { rows } = await sql<{ user_id: string }>`
        INSERT INTO kept_log (run_id, user_id, bytes)
        SELECT run.id, run.user_id, size.bytes FROM ${size} JOIN run ON run.id = size.run_id
        WHERE true ON CONFLICT (run_id) DO UPDATE SET bytes = excluded.bytes RETURNING user_id`.execute(db);
      return new Set(rows.map((row) => row.user_id));
    },

    /** Lists the kept logs of the user's runs that have ended, the oldest first. */
    listOldest: (userId: string, limit: number): Promise<{ run_id: string; bytes: number }[]> =>
      db
        .selectFrom('kept_log')
        .innerJoin('run', 'run.id', 'kept_log.run_id')
        .select(['run_id', 'bytes'])
        .where('kept_log.user_id', '=', userId)
        .where('ended_at', 'is not', null)
        .orderBy('run_id')
        .limit(limit)
        .execute(),

    async forget(runIds: readonly string[]): Promise<void> {
      await db.deleteFrom('kept_log').where('run_id', 'in', textsIn(db, runIds)).execute();
    },
  };
}
