import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';

import { entriesIn, type LogBatch, replyOf, type StoredBatch } from '../log-batch.ts';
import type { ClosedLogs } from '../log-store.ts';
import { SegmentTail } from './segment-tail.ts';

const tables = `
  CREATE TABLE IF NOT EXISTS stream (
    no INTEGER PRIMARY KEY, device_id TEXT NOT NULL, automation_id TEXT NOT NULL, UNIQUE (device_id, automation_id));
  CREATE TABLE IF NOT EXISTS batch (
    stream INTEGER NOT NULL, last_id TEXT NOT NULL, first_id TEXT NOT NULL, oldest INTEGER NOT NULL,
    count INTEGER NOT NULL, entries BLOB NOT NULL,
    PRIMARY KEY (stream, last_id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS progress (run_id TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS bound (only INTEGER PRIMARY KEY CHECK (only = 1), newest INTEGER NOT NULL, last_id TEXT NOT NULL);`;

/** The version of a file's database says whether it is kept. */
const keptVersion = 1;

interface SegmentRow extends StoredBatch {
  stream: number;
}

/**
 * The log entries that were stored within about a minute, in a file of their own: expiry is deleting it.
 *
 * The file is never checkpointed: what it holds stands in its write-ahead log, which survives a killed process, needs
 * no fsync, and after a loss of power ends at the last whole transaction.
 */
export class LogSegment implements ClosedLogs {
  readonly #file: string;
  readonly #sqlite: Database.Database;
  readonly #streams = new Map<string, number>();
  readonly #tail: SegmentTail;
  readonly #insertStream: Database.Statement<[string, string], { no: number }>;
  readonly #insertBatch: Database.Statement<[number, string, string, number, number, Buffer]>;
  readonly #setProgress: Database.Statement<[string, number]>;
  readonly #setBound: Database.Statement<[number, string]>;
  readonly #readBatches: Database.Statement<[number, string], StoredBatch>;
  readonly #readOn: Database.Statement<[number, string], SegmentRow>;
  readonly #readProgress: Database.Statement<[string], { seq: number }>;
  /** Epoch ms of the newest entry; 0 when there is none. */
  newest = 0;
  /** Whether its entries are in the kept logs of their runs, or given up. */
  isKept = false;
  /** ID of the last entry; empty when there is none. */
  lastId = '';

  constructor(file: string) {
    this.#file = file;
    this.#sqlite = openSqlite(file);
    this.#insertStream = this.#sqlite.prepare(
      'INSERT INTO stream (device_id, automation_id) VALUES (?, ?) RETURNING no',
    );
    this.#insertBatch = this.#sqlite.prepare('INSERT INTO batch VALUES (?, ?, ?, ?, ?, ?)');
    this.#setProgress = this.#sqlite.prepare('INSERT OR REPLACE INTO progress VALUES (?, ?)');
    this.#setBound = this.#sqlite.prepare('INSERT OR REPLACE INTO bound VALUES (1, ?, ?)');
    this.#readBatches = this.#sqlite.prepare(
      'SELECT first_id, last_id, oldest, count, entries FROM batch WHERE stream = ? AND last_id > ? ORDER BY last_id',
    );
    this.#readOn = this.#sqlite.prepare(
      'SELECT stream, first_id, last_id, oldest, count, entries FROM batch WHERE (stream, last_id) > (?, ?) ORDER BY stream, last_id',
    );
    this.#readProgress = this.#sqlite.prepare('SELECT seq FROM progress WHERE run_id = ?');
    this.#load();
    this.#tail = new SegmentTail({ isComplete: this.lastId === '' });
  }

  /** All of them are stored, or none. */
  append(batches: readonly LogBatch[]): void {
    this.#sqlite.exec('BEGIN');
    try {
      const stored = batches.map((batch) => this.#insert(batch));
      this.#setBound.run(this.newest, this.lastId);
      this.#sqlite.exec('COMMIT');
      this.#tail.add(stored);
    } catch (error) {
      if (this.#sqlite.inTransaction) this.#sqlite.exec('ROLLBACK');
      this.#streams.clear();
      this.#load();
      throw error;
    }
  }

  /** The batches of a stream with entries after `from`, oldest first. */
  read(deviceId: string, automationId: string, from: string): IterableIterator<StoredBatch> {
    const key = streamKey(deviceId, automationId);
    if (this.#tail.isComplete) return this.#tail.read(key, from);
    const stream = this.#streams.get(key);
    return stream === undefined ? [].values() : this.#readBatches.iterate(stream, from);
  }

  *readAll(stepBytes: number): Generator<SegmentRow[]> {
    for (let rows = this.#readStep(0, '', stepBytes); rows.length > 0;) {
      yield rows;
      const last = rows.at(-1);
      rows = this.#readStep(last?.stream ?? 0, last?.last_id ?? '', stepBytes);
    }
  }

  /** The number of the run's last stored entry; 0 when it has none here. */
  progressOf(runId: string): number {
    return this.#readProgress.get(runId)?.seq ?? 0;
  }

  markKept(): void {
    this.#sqlite.pragma(`user_version = ${keptVersion}`);
    this.isKept = true;
  }

  giveUp(): void {
    this.isKept = true;
  }

  /** The number of the last stored entry of each run that has entries here. */
  progress(): { run_id: string; seq: number }[] {
    return this.#sqlite
      .prepare<[], { run_id: string; seq: number }>('SELECT run_id, seq FROM progress')
      .all();
  }

  close(): void {
    this.#sqlite.close();
  }

  delete(): void {
    // Deleted first, so that closing has nothing to write back.
    for (const suffix of ['', '-wal', '-shm']) rmSync(this.#file + suffix, { force: true });
    this.#sqlite.pragma('synchronous = OFF');
    this.#sqlite.close();
  }

  #readStep(stream: number, lastId: string, stepBytes: number): SegmentRow[] {
    const rows: SegmentRow[] = [];
    let sizeBytes = 0;
    for (const row of this.#readOn.iterate(stream, lastId)) {
      rows.push(row);
      sizeBytes += row.entries.length;
      if (sizeBytes >= stepBytes) break;
    }
    return rows;
  }

  #load(): void {
    this.isKept = this.#sqlite.pragma('user_version', { simple: true }) === keptVersion;
    const streams = this.#sqlite.prepare<[], { no: number; device_id: string; automation_id: string }>(
      'SELECT no, device_id, automation_id FROM stream',
    );
    for (const row of streams.iterate())
      this.#streams.set(streamKey(row.device_id, row.automation_id), row.no);
    const bound = this.#sqlite
      .prepare<[], { newest: number; last_id: string }>('SELECT newest, last_id FROM bound')
      .get();
    this.newest = bound?.newest ?? 0;
    this.lastId = bound?.last_id ?? '';
  }

  #insert(batch: LogBatch): [streamKey: string, StoredBatch] {
    const { firstId, lastId, oldest, count } = batch;
    const reply = replyOf([Buffer.from(batch.entries)]);
    const entries = entriesIn(reply);
    const { deviceId, automationId, runId } = batch.stream;
    const stream = this.#streamNo(deviceId, automationId);
    this.#insertBatch.run(stream, lastId, firstId, oldest, count, entries);
    this.#setProgress.run(runId, batch.lastSeq);
    this.newest = Math.max(this.newest, batch.newest);
    this.lastId = lastId;
    return [
      streamKey(deviceId, automationId),
      { first_id: firstId, last_id: lastId, oldest, count, entries, reply },
    ];
  }

  #streamNo(deviceId: string, automationId: string): number {
    const key = streamKey(deviceId, automationId);
    const known = this.#streams.get(key);
    if (known !== undefined) return known;
    const no = this.#insertStream.get(deviceId, automationId)?.no ?? 0;
    this.#streams.set(key, no);
    return no;
  }
}

function openSqlite(file: string): Database.Database {
  const sqlite = new Database(file, { timeout: 0 });
  try {
    sqlite.pragma('locking_mode = EXCLUSIVE');
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('synchronous = NORMAL');
    sqlite.pragma('wal_autocheckpoint = 0');
    sqlite.exec(tables);
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

const streamKey = (deviceId: string, automationId: string): string => `${deviceId} ${automationId}`;
