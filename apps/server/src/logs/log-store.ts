import type { WireLogEntry } from '@phalanx/protocol';

import type { LogBatch, LogStream, StoredBatch } from './log-batch.ts';

/** Entries of one run as a host sent them, numbered from `firstSeq`. */
export interface IncomingEntries {
  stream: LogStream;
  firstSeq: number;
  entries: readonly WireLogEntry[];
  /** Of the connection that they came over. */
  epoch: number;
}

/** What became of entries that were to be stored. */
export interface Appended {
  /** Those that were new. */
  readonly batches: readonly LogBatch[];
  /** Nothing is stored of these connections: their hosts have connected again. */
  readonly replaced: ReadonlySet<number>;
}

/** What one automation logged on one device. */
export type StreamKey = Pick<LogStream, 'deviceId' | 'automationId'>;

/** Where recent entries are read. */
export interface RecentLogs {
  /**
   * The batches of a stream with entries after `from`, oldest first, some at a time. Each lot is to be read without a
   * turn of the event loop.
   */
  read(stream: StreamKey, from: string): AsyncIterable<Iterable<StoredBatch>>;
}

/** The entries of about a minute, which takes no more. */
export interface ClosedLogs {
  /** All batches, those of a stream one after the other, about so many bytes at a time. */
  readAll(stepBytes: number): Iterable<readonly StoredBatch[]> | AsyncIterable<readonly StoredBatch[]>;
  /** The number of the run's last entry among those that were read. */
  progressOf(runId: string): number;
  /** They are in the kept logs of their runs. Also for a later process. */
  markKept(): Promise<void> | void;
  /** They may go when their time is over, whether they are kept or not. */
  giveUp(): void;
}

/** The log entries of the last 10 minutes. */
export interface LogStore extends RecentLogs {
  /** A run that begins now has no entries: its first ones need not wait for a look. */
  begin(runId: string): void;
  /** Finds what is stored of a run that has not logged lately. To be awaited before its entries are appended. */
  findProgress(runId: string): Promise<void>;
  /**
   * Stores what is new; entries that a host sends once more are known by their number. When it resolves, everything up
   * to the last number given is safe, but for what came over connections that are replaced. Rejects when that is not so.
   * Only one at a time: entries are stored in the order of their IDs.
   */
  append(incoming: readonly IncomingEntries[]): Promise<Appended>;
  /** Those that take no more entries and are not kept, oldest first. */
  listUnkept(): Promise<readonly ClosedLogs[]>;
  /** Whether nothing of them is in the window any more. */
  isPastWindow(logs: ClosedLogs): boolean;
  /** Deletes what is older than the window and kept with its runs, from the disk too. */
  expire(): Promise<void>;
  close(): void;
}
