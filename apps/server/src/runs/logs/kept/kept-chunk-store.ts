import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { sql } from 'kysely';
import type { Db, Transaction } from '../../../storage/db/database.ts';
import { forKeyShare, transact } from '../../../storage/db/transactions.ts';
import { textsIn } from '../../../storage/db/dialect.ts';
import type { EntryKind } from '../log-batch.ts';

const pack = promisify(zstdCompress);
const unpack = promisify(zstdDecompress);

/** State of the kept log, or the kept trace, of a run. */
interface KeptState {
  sizeBytes: number;
  /** Number that the next entry gets. */
  next: number;
}

export type KeptChunkStore = ReturnType<typeof createKeptChunkStore>;

/** The kept logs, or traces, of runs: a chunk is a row. */
export function createKeptChunkStore(db: Db, kind: EntryKind) {
  return {
    /** Reads the states of runs. Runs of which nothing is kept are missing. */
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

    /** Finds the ID of the last entry that is kept of the run; empty when there is none. */
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

    /** Stores all chunks, or none, and counts their bytes. A run that is gone keeps nothing. */
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

    /** Deletes the chunks of the run but these, and counts what is left. */
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

/** Counts the bytes of the runs anew, logs and traces together, in the transaction that changes their chunks. */
async function countBytes(transaction: Transaction, runIds: readonly string[]): Promise<void> {
  await sql`INSERT INTO kept_log (run_id, user_id, bytes)
    SELECT run.id, run.user_id, sum(size_bytes) FROM kept_chunk JOIN run ON run.id = kept_chunk.run_id
    WHERE run.id IN ${textsIn(transaction, runIds)} GROUP BY run.id, run.user_id
    ON CONFLICT (run_id) DO UPDATE SET bytes = excluded.bytes`.execute(transaction);
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
