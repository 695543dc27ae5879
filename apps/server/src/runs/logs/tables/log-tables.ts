import type { LogBatch, StoredBatch, StreamKey } from '../log-batch.ts';

/** One of the tables that entries are stored in, in turn: about a minute of entries each. */
export interface LogTable {
  /** Grows with every table that is opened. */
  readonly no: number;
  /** Where it is: the next table there has another number. */
  readonly slot: number;
  readonly state: 'empty' | 'open' | 'closed' | 'kept';
  readonly begun_at: number;
  /** Epoch ms of its newest entry; may be 0 while it is open. */
  readonly newest: number;
  /** Of its last entry; while it is open, it may be an earlier one. */
  readonly last_id: string;
}

/** What a flush changes of a run: the number of its last stored entry. */
export interface ProgressChange {
  run_id: string;
  /** 0 when nothing is stored of it. */
  before: number;
  seq: number;
  /** Of the connection that the entries came over. */
  epoch: number;
}

/** The IDs that a flush gives to what came over a connection. */
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

/** What a flush has stored. */
export interface Flushed {
  runIds: Set<string>;
  /** By connection, the ID of its host's last entry before; those that are not the newest any more are missing. */
  lastIds: Map<number, string>;
}

/** Which batches of a stream somebody wants. */
export interface AskedBatches {
  stream: StreamKey;
  after: string;
  most: number;
}

export interface FoundBatches {
  batches: readonly StoredBatch[];
  /** There are no more in the tables that were read. */
  isAll: boolean;
  /** The number of the newest table: when that is none of those that were read, there may be more in it. */
  newest: number;
}

/** Where the tables are: files of SQLite, or tables of PostgreSQL. */
export interface LogTables {
  /** In the order of their numbers. */
  list(): Promise<readonly LogTable[]>;
  /** Numbers of the last stored entries, 0 when there is none; runs that are gone are missing. */
  progressOf(runIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Stores the batches of those runs that are where `changes` says they are, and returns these runs: of others,
   * somebody else has stored entries meanwhile. None of them when the table takes no more, and none of connections that
   * are not the newest ones of their hosts any more, or whose hosts have entries with greater IDs. It is done as a
   * whole, once, or not at all.
   */
  append(table: LogTable, flush: Flush): Promise<Flushed>;
  /** The batches of a stream that end after `after`, oldest first. */
  read(tables: readonly LogTable[], asked: AskedBatches): Promise<FoundBatches>;
  /** All batches, those of a stream one after the other, about so many bytes at a time. */
  readAll(table: LogTable, stepBytes: number): AsyncIterable<readonly StoredBatch[]>;
  /** ID of the last entry that was ever stored; empty when there was none. */
  lastId(): Promise<string>;
  /** Opens an empty table, unless another one is open or none is empty. */
  open(nowMs: number): Promise<void>;
  /** Waits for what is being stored in it. Does nothing when no other table could be opened. */
  close(table: LogTable): Promise<void>;
  /** Its entries are in the kept logs of their runs. Also for a later process. */
  markKept(table: LogTable): Promise<void>;
  /** Deletes its entries, from the disk too. */
  empty(table: LogTable): Promise<void>;
  /** Call it when nothing is read or stored any more. */
  release(): void;
}
