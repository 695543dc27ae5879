import { sql, type RawBuilder } from 'kysely';
import type { Db, Transaction } from '../../../storage/db/database.ts';
import { batchQueries } from '../../../storage/db/postgres/batch-queries.ts';
import { rowsAs } from '../../../storage/db/dialect.ts';
import { transact } from '../../../storage/db/transactions.ts';
import type { LogBatch, StoredBatch } from '../log-batch.ts';
import type { AskedBatches, Flush, Flushed, FoundBatches, LogTable, LogTables } from './log-tables.ts';
import type { ProgressStore } from './progress-store.ts';

/** Expected size of a batch, in bytes: batches of hosts that send often have some 10 KB. */
const expectedBatchBytes = 10 * 1024;

interface BatchRow {
  first_id: string;
  last_id: string;
  oldest: number;
  count: number;
  entries: string;
}

interface OrderedRow extends BatchRow {
  device_id: string;
  automation_id: string;
}

interface Question {
  readonly tables: readonly LogTable[];
  readonly asked: AskedBatches;
}

const batchOf = ({ entries, ...about }: BatchRow): StoredBatch => ({
  ...about,
  entries: Buffer.from(entries),
});

const askedColumns = {
  place: 'bigint',
  device_id: 'text',
  automation_id: 'text',
  after: 'text',
  max_batches: 'bigint',
} as const;
const changeColumns = { run_id: 'text', before: 'bigint', seq: 'bigint', epoch: 'bigint' } as const;
const flushColumns = { epoch: 'bigint', first_id: 'text', last_id: 'text' } as const;

const entriesOf = ({ slot }: Pick<LogTable, 'slot'>): RawBuilder<unknown> => sql.table(`log_${slot}`);

/** Locks the table's row, after a wait for its current holder; undefined when the table is no longer in this state. */
const lockIn = (
  transaction: Transaction,
  { slot, no }: LogTable,
  state: LogTable['state'],
): Promise<{ slot: number } | undefined> =>
  transaction
    .selectFrom('log_table')
    .select('slot')
    .where('slot', '=', slot)
    .where('no', '=', no)
    .where('state', '=', state)
    .forUpdate()
    .executeTakeFirst();

/**
 * Creates the columns of batches for an insert. Entries are passed as separate values, because quotes within an array
 * literal are costly to escape.
 */
function batchesAs(batches: readonly LogBatch[]): RawBuilder<unknown> {
  const texts = (column: (batch: LogBatch) => string): RawBuilder<unknown> =>
    sql`${batches.map(column)}::text[]`;
  const numbers = (column: (batch: LogBatch) => number): RawBuilder<unknown> =>
    sql`${batches.map(column)}::bigint[]`;
  return sql`unnest(${sql.join([
    texts(({ stream }) => stream.runId),
    texts(({ stream }) => stream.deviceId),
    texts(({ stream }) => stream.automationId),
    texts(({ lastId }) => lastId),
    texts(({ firstId }) => firstId),
    numbers(({ lastSeq }) => lastSeq),
    numbers(({ oldest }) => oldest),
    numbers(({ newest }) => newest),
    numbers(({ count }) => count),
    sql`ARRAY[${sql.join(batches.map(({ entries }) => entries))}]::text[]`,
  ])}) AS batch (run_id, device_id, automation_id, last_id, first_id, last_seq, oldest, newest, count, entries)`;
}

/** Stores log entries in rotating PostgreSQL tables that all servers share. */
export function createPostgresTables(db: Db, progress: ProgressStore): LogTables {
  const readTogether = batchQueries((questions: readonly Question[]) => readBatches(db, questions));
  return {
    list: (): Promise<LogTable[]> => db.selectFrom('log_table').selectAll().orderBy('no').execute(),

    progressOf: (runIds) => progress.of(runIds),

    /**
     * Runs as one statement, so that it is atomic and happens at most once. The rows of the connections and of the runs
     * are the fence: a statement that advances one holds its lock until its entries are stored. A reconnecting host
     * waits for that lock, and takes over the last ID.
     */
    async append(table, { changes, hosts, batches }: Flush): Promise<Flushed> {
      const change = rowsAs(db, 'change', changeColumns, changes);
      const flush = rowsAs(db, 'flush', flushColumns, hosts);
      const { rows } = await sql<{ run_id: string | null; epoch: number | null; last_log_id: string | null }>`
        WITH open AS MATERIALIZED (
          SELECT slot FROM log_table
          WHERE slot = ${table.slot} AND no = ${table.no} AND state = 'open' FOR SHARE),
        flush AS MATERIALIZED (SELECT * FROM ${flush}),
        fenced AS (
          UPDATE host_session SET last_log_id = flush.last_id FROM flush, open
          WHERE host_session.epoch = flush.epoch AND host_session.last_log_id < flush.first_id
          RETURNING host_session.epoch),
        change AS MATERIALIZED (SELECT change.* FROM ${change} JOIN fenced ON fenced.epoch = change.epoch),
        moved AS (
          UPDATE log_progress SET seq = change.seq FROM change
          WHERE log_progress.run_id = change.run_id AND log_progress.seq = change.before
          RETURNING log_progress.run_id),
        begun AS (
          INSERT INTO log_progress (run_id, seq)
          SELECT change.run_id, change.seq FROM change JOIN run ON run.id = change.run_id WHERE change.before = 0
          ON CONFLICT (run_id) DO NOTHING RETURNING run_id),
        mine AS (SELECT run_id FROM moved UNION ALL SELECT run_id FROM begun),
        stored AS (
          INSERT INTO ${entriesOf(table)}
            (device_id, automation_id, last_id, first_id, last_seq, oldest, newest, count, entries)
          SELECT device_id, automation_id, last_id, first_id, last_seq, oldest, newest, count, entries
          FROM ${batchesAs(batches)} JOIN mine ON mine.run_id = batch.run_id)
        SELECT run_id, NULL::bigint AS epoch, NULL AS last_log_id FROM mine
        UNION ALL SELECT NULL, host_session.epoch, last_log_id
          FROM host_session JOIN flush ON flush.epoch = host_session.epoch`.execute(db);
      const lastIds = rows.flatMap(({ epoch, last_log_id: id }) =>
        epoch === null || id === null ? [] : [[epoch, id] as const],
      );
      return { runIds: new Set(rows.flatMap(({ run_id: id }) => id ?? [])), lastIds: new Map(lastIds) };
    },

    read: (tables, asked) => readTogether({ tables, asked }),

    async *readAll(table, stepBytes) {
      const limit = Math.ceil(stepBytes / expectedBatchBytes);
      for (let rows: OrderedRow[] = []; ;) {
        rows = await readOn(db, table, rows.at(-1), limit);
        yield rows.map(batchOf);
        if (rows.length < limit) return;
      }
    },

    async lastId() {
      const tables = await db.selectFrom('log_table').selectAll().execute();
      const open = tables.filter(({ state }) => state === 'open');
      const found = open.map((table) =>
        sql<{ last_id: string | null }>`
        SELECT max(last_id) AS last_id FROM ${entriesOf(table)}`.execute(db),
      );
      const ids = (await Promise.all(found)).flatMap(({ rows }) => rows.map((row) => row.last_id ?? ''));
      return [...ids, ...tables.map((table) => table.last_id)].toSorted().at(-1) ?? '';
    },

    open: (nowMs) =>
      transact(db, async (transaction) => {
        const empty = await lockEmpty(transaction);
        // Another server that held the lock first may have opened a table.
        const open = await transaction
          .selectFrom('log_table')
          .select('slot')
          .where('state', '=', 'open')
          .executeTakeFirst();
        if (empty === undefined || open !== undefined) return;
        await transaction
          .updateTable('log_table')
          .set({ state: 'open', begun_at: nowMs, newest: 0 })
          .set((eb) => ({ no: eb.selectFrom('log_table').select(sql<number>`max(no) + 1`.as('no')) }))
          .where('slot', '=', empty.slot)
          .execute();
      }),

    close: (table) =>
      transact(db, async (transaction) => {
        if ((await lockEmpty(transaction)) === undefined) return;
        if ((await lockIn(transaction, table, 'open')) === undefined) return;
        await sql`UPDATE log_table SET state = 'closed', newest = coalesce(ended.newest, 0),
            last_id = coalesce(ended.last_id, log_table.last_id)
          FROM (SELECT max(newest) AS newest, max(last_id) AS last_id FROM ${entriesOf(table)}) AS ended
          WHERE slot = ${table.slot}`.execute(transaction);
      }),

    async markKept({ slot, no }) {
      await db
        .updateTable('log_table')
        .set({ state: 'kept' })
        .where('slot', '=', slot)
        .where('no', '=', no)
        .where('state', '=', 'closed')
        .execute();
    },

    empty: (table) =>
      transact(db, async (transaction) => {
        if ((await lockIn(transaction, table, table.state)) === undefined) return;
        await sql`TRUNCATE ${entriesOf(table)}`.execute(transaction);
        await transaction
          .updateTable('log_table')
          .set({ state: 'empty' })
          .where('slot', '=', table.slot)
          .execute();
      }),
    release: () => undefined,
  };
}

/** Locks the next empty table. No other server opens it before the transaction ends. */
const lockEmpty = (transaction: Transaction): Promise<{ slot: number } | undefined> =>
  transaction
    .selectFrom('log_table')
    .select('slot')
    .where('state', '=', 'empty')
    .orderBy('no')
    .orderBy('slot')
    .limit(1)
    .forUpdate()
    .executeTakeFirst();

/** Answers several queries in one statement. */
async function readBatches(db: Db, questions: readonly Question[]): Promise<FoundBatches[]> {
  const tables = new Map(questions.flatMap((one) => one.tables.map(({ no, slot }) => [no, slot] as const)));
  const ofTables = Array.from(
    tables.values(),
    (slot) => sql`(SELECT first_id, last_id, oldest, count, entries FROM ${entriesOf({ slot })} AS batch
      WHERE batch.device_id = asked.device_id AND batch.automation_id = asked.automation_id
        AND batch.last_id > asked.after ORDER BY batch.last_id LIMIT asked.max_batches)`,
  );
  const places = questions.map(({ asked: { stream, after, maxBatches } }, place) => ({
    place,
    after,
    max_batches: maxBatches,
    device_id: stream.deviceId,
    automation_id: stream.automationId,
  }));
  const { rows } = await sql<{ newest: number } & ((BatchRow & { place: number }) | { place: null })>`
    SELECT newest.no AS newest, found.* FROM (SELECT max(no) AS no FROM log_table) AS newest
    LEFT JOIN (SELECT asked.place, batch.* FROM ${rowsAs(db, 'asked', askedColumns, places)}
      CROSS JOIN LATERAL (SELECT * FROM (${sql.join(ofTables, sql` UNION ALL `)}) AS any_table
        ORDER BY last_id LIMIT asked.max_batches) AS batch) AS found ON true
    ORDER BY place, last_id`.execute(db);
  const batches = questions.map((): StoredBatch[] => []);
  for (const row of rows) if (row.place !== null) batches[row.place]?.push(batchOf(row));
  const newest = rows[0]?.newest ?? 0;
  return batches.map((found, place) => ({
    batches: found,
    newest,
    isAll: found.length < (questions[place]?.asked.maxBatches ?? 0),
  }));
}

/** Reads the next batches after `after` in the table's own order, up to `limit`. */
async function readOn(
  db: Db,
  table: LogTable,
  after: OrderedRow | undefined,
  limit: number,
): Promise<OrderedRow[]> {
  const { device_id: device, automation_id: automation, last_id: last } = after ?? {};
  const { rows } = await sql<OrderedRow>`
    SELECT device_id, automation_id, first_id, last_id, oldest, count, entries FROM ${entriesOf(table)}
    WHERE (device_id, automation_id, last_id) > (${device ?? ''}, ${automation ?? ''}, ${last ?? ''})
    ORDER BY device_id, automation_id, last_id LIMIT ${limit}`.execute(db);
  return rows;
}
