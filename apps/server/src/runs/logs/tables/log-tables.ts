import type { LogBatch, StoredBatch, StreamKey } from '../log-batch.ts';

/** One of the tables that entries are stored in, in turn: about a minute of entries each. */
export interface LogTable {
  /** Grows with every table that is opened. */
  readonly no: number;
  /** Place of the table: the next table there has another number. */
  readonly slot: number;
  readonly state: 'empty' | 'open' | 'closed' | 'kept';
  readonly begun_at: number;
  /** Epoch ms of its newest entry; may be 0 while it is open. */
  readonly newest: number;
  /** ID of its last entry; while it is open, it may be an earlier one. */
  readonly last_id: string;
}

/** Change of a run by a flush: the number of its last stored entry. */
export interface ProgressChange {
  run_id: string;
  /** Number of the last entry before the flush; 0 when nothing is stored of the run. */
  before: number;
  seq: number;
  /** Epoch of the connection that the entries came over. */
  epoch: number;
}

/** IDs that a flush gives to the entries of one connection. */
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

/** Result of a flush. */
export interface Flushed {
  runIds: Set<string>;
  /**
   * ID of the host's last entry before the flush, by connection. Connections that are no longer the newest ones of
   * their hosts are missing.
   */
  lastIds: Map<number, string>;
}

/** Question for batches of a stream. */
export interface AskedBatches {
  stream: StreamKey;
  after: string;
  maxBatches: number;
}

export interface FoundBatches {
  batches: readonly StoredBatch[];
  /** Whether there are no more in the tables that were read. */
  isAll: boolean;
  /** Number of the newest table. If that table was not read, there may be more in it. */
  newest: number;
}

/** Storage of the tables: files of SQLite, or tables of PostgreSQL. */
export interface LogTables {
  /** Lists the tables in the order of their numbers. */
  list(): Promise<readonly LogTable[]>;
  /** Reads the numbers of the last stored entries, 0 when there is none; runs that are gone are missing. */
  progressOf(runIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Stores the batches of the runs whose last stored entry is the one that `changes` names, and returns these runs: for
   * other runs, somebody else has stored entries meanwhile. Stores nothing when the table takes no more entries. Stores
   * nothing of connections that are no longer the newest ones of their hosts, or whose hosts have entries with greater
   * IDs. It is done as a whole, once, or not at all.
   */
  append(table: LogTable, flush: Flush): Promise<Flushed>;
  /** Reads the batches of a stream that end after `after`, oldest first. */
  read(tables: readonly LogTable[], asked: AskedBatches): Promise<FoundBatches>;
  /** Reads all batches, stream by stream, about `stepBytes` at a time. */
  readAll(table: LogTable, stepBytes: number): AsyncIterable<readonly StoredBatch[]>;
  /** Reads the ID of the last entry that was ever stored; empty when there was none. */
  lastId(): Promise<string>;
  /** Opens an empty table, unless another one is open or none is empty. */
  open(nowMs: number): Promise<void>;
  /** Closes a table once the running appends to it have ended. Does nothing when no other table could be opened. */
  close(table: LogTable): Promise<void>;
  /** Marks a table whose entries are in the kept logs of their runs, also for a later process. */
  markKept(table: LogTable): Promise<void>;
  /** Deletes its entries, from the disk too. */
  empty(table: LogTable): Promise<void>;
  /** Releases the tables. Call it when nothing is read or stored any more. */
  release(): void;
}
