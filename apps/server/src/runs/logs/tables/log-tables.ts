import type { LogBatch, StoredBatch, StreamKey } from '../log-batch.ts';

/** One of the rotating tables of entries, with about a minute of entries each. */
export interface LogTable {
  /** Increases with every opened table. */
  readonly no: number;
  /** Slot of the table. The next table in the slot has another number. */
  readonly slot: number;
  readonly state: 'empty' | 'open' | 'closed' | 'kept';
  readonly begun_at: number;
  /** Time of its newest entry, epoch ms; may be 0 while the table is open. */
  readonly newest: number;
  /** ID of its last entry; possibly an earlier one while the table is open. */
  readonly last_id: string;
}

/** Progress of a run by a flush: the number of its last stored entry. */
export interface ProgressChange {
  run_id: string;
  /** Number of the last entry before the flush; 0 when the run has none. */
  before: number;
  seq: number;
  /** Epoch of the connection that delivered the entries. */
  epoch: number;
}

/** Range of IDs that a flush assigns to the entries of one connection. */
export interface HostFlush {
  epoch: number;
  first_id: string;
  last_id: string;
}

export interface Flush {
  changes: readonly ProgressChange[];
  hosts: readonly HostFlush[];
  batches: readonly LogBatch[];
}

export interface Flushed {
  runIds: Set<string>;
  /**
   * ID of the host's last entry before the flush, by connection. Stale connections, which are no longer the newest of
   * their hosts, are omitted.
   */
  lastIds: Map<number, string>;
}

/** Query for batches of a stream. */
export interface AskedBatches {
  stream: StreamKey;
  after: string;
  maxBatches: number;
}

export interface FoundBatches {
  batches: readonly StoredBatch[];
  /** Whether the tables that were read have no more batches. */
  isAll: boolean;
  /** Number of the newest table. A newest table that was not read may have more batches. */
  newest: number;
}

/** Storage of the tables: SQLite files, or PostgreSQL tables. */
export interface LogTables {
  /** Lists the tables by number. */
  list(): Promise<readonly LogTable[]>;
  /** Reads the numbers of the last stored entries; 0 when a run has none. Deleted runs are omitted. */
  progressOf(runIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Stores the batches of the runs whose last stored entry is the one in `changes`, and returns these runs. Another
   * server has stored entries of the remaining runs in between. Stores nothing when the table is no longer open. Stores
   * nothing of stale connections, which are no longer the newest of their hosts, and nothing of hosts that have entries
   * with greater IDs. Atomic: each flush is stored once as a whole, or not at all.
   */
  append(table: LogTable, flush: Flush): Promise<Flushed>;
  /** Reads the batches of a stream that end after `after`, oldest first. */
  read(tables: readonly LogTable[], asked: AskedBatches): Promise<FoundBatches>;
  /** Reads all batches, stream by stream, about `stepBytes` at a time. */
  readAll(table: LogTable, stepBytes: number): AsyncIterable<readonly StoredBatch[]>;
  /** Reads the ID of the last entry that was ever stored; empty when there was none. */
  lastId(): Promise<string>;
  /** Opens an empty table, unless another one is open or no table is empty. */
  open(nowMs: number): Promise<void>;
  /** Closes a table once the appends in flight have ended. Does nothing when no other table could be opened. */
  close(table: LogTable): Promise<void>;
  /** Marks a table whose entries are archived in the kept logs of their runs. The mark survives a restart. */
  markKept(table: LogTable): Promise<void>;
  /** Deletes the entries of a table, also from the disk. */
  empty(table: LogTable): Promise<void>;
  /** Releases the tables. Call it after all reads and appends have ended. */
  release(): void;
}
