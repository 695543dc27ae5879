import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { sql } from 'kysely';
import type { Db, Transaction } from '../../../storage/db/database.ts';
import { forKeyShare, transact } from '../../../storage/db/transactions.ts';
import { textsIn } from '../../../storage/db/dialect.ts';
import type { EntryKind } from '../log-batch.ts';

const pack = promisify(zstdCompress);
const unpack = promisify(zstdDecompress);

/** State of a run's kept log or trace. */
interface KeptState {
  sizeBytes: number;
  /** Number of the next entry. */
  next: number;
}

export type KeptChunkStore = ReturnType<typeof createKeptChunkStore>;

/** Stores the kept logs or traces of runs, one row per chunk. */
export function createKeptChunkStore(db: Db, kind: EntryKind) {
  return {
    /** Reads the states of runs. Runs without kept entries are omitted. */
    async statesOf(runIds: readonly string[]): Promise<Map<string, KeptState>> {
      const rows = await db
        .selectFrom('kept_chunk')
        .select(['run_id', (of) => of.fn.sum<number>('size_bytes').as('sizeBytes')])
        .select(sql<number>`max(first + count)`.as('next'))
        .where('kind', '=', kind)
        .where('run_id', 'in', textsIn(db, runIds))
        .groupBy('run_id')
        .execute();
      return new Map(rows.map(({ run_id: runId, ...state }) => [runId, state]));
    },

    /** Returns the ID of the last kept entry of the run; empty when there is none. */
    async lastIdOf(runId: string): Promise<string> {
      const row = await db
        .selectFrom('kept_chunk')
        .select('last_id')
        .where('run_id', '=', runId)
        .where('kind', '=', kind)
        .orderBy('first', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.last_id ?? '';
    },

    list: (runId: string): Promise<KeptChunk[]> =>
      db
        .selectFrom('kept_chunk')
        .select(['first', 'count', 'last_id', 'packed'])
        .where('run_id', '=', runId)
        .where('kind', '=', kind)
        .orderBy('first')
        .execute(),

    /** Stores all chunks or none, and updates the byte counts. Skips deleted runs. */
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
        if (rows.length === 0) return;
        await transaction.insertInto('kept_chunk').values(rows).execute();
        await countBytes(
          transaction,
          rows.map(({ run_id: id }) => id),
        );
      }),

    /** Deletes all chunks of the run except these, and updates its byte count. */
    keepOnly: (runId: string, chunks: readonly KeptChunk[]): Promise<void> =>
      transact(db, async (transaction) => {
        const firsts = chunks.map(({ first }) => first);
        await transaction
          .deleteFrom('kept_chunk')
          .where('run_id', '=', runId)
          .where('kind', '=', kind)
          .where('first', 'not in', firsts)
          .execute();
        await countBytes(transaction, [runId]);
      }),
  };
}

/** Recounts the bytes of the runs, logs and traces together, in the transaction that changes their chunks. */
async function countBytes(transaction: Transaction, runIds: readonly string[]): Promise<void> {
  await sql`INSERT INTO kept_log (run_id, user_id, bytes)
    SELECT run.id, run.user_id, sum(size_bytes) FROM kept_chunk JOIN run ON run.id = kept_chunk.run_id
    WHERE run.id IN ${textsIn(transaction, runIds)} GROUP BY run.id, run.user_id
    ON CONFLICT (run_id) DO UPDATE SET bytes = excluded.bytes`.execute(transaction);
}

/** A stored, compressed chunk of a run's entries. */
export interface KeptChunk {
  /**
   * Number of its first entry among all entries ever kept of the run, from 1. A gap shows that chunks were dropped
   * later.
   */
  first: number;
  count: number;
  /** ID of its last entry. */
  last_id: string;
  /** The entries, compressed. */
  packed: Buffer;
}

/** Entries of a run that are to be stored as a chunk. */
export type NewChunk = Pick<KeptChunk, 'count' | 'last_id'> & {
  /** JSON of the entries, joined by `entrySeparator`. */
  entries: Buffer;
};

export async function packChunk({ entries, ...about }: NewChunk, first: number): Promise<KeptChunk> {
  return { first, ...about, packed: await pack(entries) };
}

/** Decompresses a chunk into the JSON of its entries, joined by `entrySeparator`. */
export async function textIn({ packed }: KeptChunk): Promise<string> {
  return (await unpack(packed)).toString();
}
