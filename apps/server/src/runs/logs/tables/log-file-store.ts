import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';

import { type LogBatch, type StoredBatch, type StreamKey, streamKeyOf } from '../log-batch.ts';

/** Tables of a file. Rows are stored in arrival order, so that a flush writes mostly at the end of the file. */
const tables = `
  CREATE TABLE IF NOT EXISTS stream (
    no INTEGER PRIMARY KEY, device_id TEXT NOT NULL, automation_id TEXT NOT NULL, UNIQUE (device_id, automation_id));
  CREATE TABLE IF NOT EXISTS batch (
    stream INTEGER NOT NULL, last_id TEXT NOT NULL, first_id TEXT NOT NULL, run_id TEXT NOT NULL,
    last_seq INTEGER NOT NULL, oldest INTEGER NOT NULL, newest INTEGER NOT NULL, count INTEGER NOT NULL,
    entries TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS batch_of_stream ON batch (stream, last_id);`;

const columns = 'stream, first_id, last_id, oldest, count, CAST(entries AS BLOB) AS entries';

/** `user_version` of a file that is marked as archived. */
const keptVersion = 1;

interface FileRow extends StoredBatch {
  stream: number;
}

interface RunRow {
  run_id: string;
  seq: number;
  newest: number;
  last_id: string;
}

type NewRow = [number, string, string, string, number, number, number, number, string];

/**
 * Stores the log entries of about a minute in a separate file, so that expiry just deletes the file. Every method is
 * synchronous: it returns without yielding to the event loop.
 *
 * The file is never checkpointed: its entries stay in its write-ahead log, which survives a killed process, needs no
 * fsync, and after a power loss ends at the last complete transaction.
 */
export class LogFile {
  readonly #file: string;
  readonly #sqlite: Database.Database;
  readonly #streams = new Map<string, number>();
  readonly #insertStream: Database.Statement<[string, string], { no: number }>;
  readonly #insertBatch: Database.Statement<NewRow>;
  readonly #readBatches: Database.Statement<[number, string], FileRow>;
  readonly #readOn: Database.Statement<[number, string], FileRow>;
  /** Number of the last stored entry, by run. */
  readonly progress = new Map<string, number>();
  /** Time of the newest entry, epoch ms; 0 when there is none. */
  newest = 0;
  /** ID of the last entry; empty when there is none. */
  lastId = '';
  isKept = false;

  constructor(file: string) {
    this.#file = file;
    this.#sqlite = openSqlite(file);
    this.#insertStream = this.#sqlite.prepare(
      'INSERT INTO stream (device_id, automation_id) VALUES (?, ?) RETURNING no',
    );
    this.#insertBatch = this.#sqlite.prepare('INSERT INTO batch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#readBatches = this.#sqlite.prepare(
      `SELECT ${columns} FROM batch WHERE stream = ? AND last_id > ? ORDER BY last_id`,
    );
    this.#readOn = this.#sqlite.prepare(
      `SELECT ${columns} FROM batch WHERE (stream, last_id) > (?, ?) ORDER BY stream, last_id`,
    );
    this.#load();
  }

  /** Stores all batches, or none. */
  append(batches: readonly LogBatch[]): void {
    this.#sqlite.exec('BEGIN');
    try {
      for (const batch of batches) this.#insert(batch);
      this.#sqlite.exec('COMMIT');
    } catch (error) {
      if (this.#sqlite.inTransaction) this.#sqlite.exec('ROLLBACK');
      this.#load();
      throw error;
    }
    for (const { stream, lastSeq, newest, lastId } of batches) {
      this.progress.set(stream.runId, lastSeq);
      this.newest = Math.max(this.newest, newest);
      this.lastId = lastId;
    }
  }

  /**
   * Reads the batches of a stream that end after `after`, oldest first, within `limits`. May exceed `sizeBytes` by one
   * batch.
   */
  read(stream: StreamKey, after: string, limits: ReadLimits): { batches: StoredBatch[]; isAll: boolean } {
    const no = this.#streams.get(streamKeyOf(stream));
    if (no === undefined || this.lastId <= after) return { batches: [], isAll: true };
    return take(this.#readBatches.iterate(no, after), limits);
  }

  *readAll(stepBytes: number): Generator<StoredBatch[]> {
    let [stream, lastId] = [0, ''];
    for (;;) {
      const { batches } = take(this.#readOn.iterate(stream, lastId), {
        maxBatches: Infinity,
        sizeBytes: stepBytes,
      });
      const last = batches.at(-1);
      if (last === undefined) return;
      yield batches;
      [stream, lastId] = [last.stream, last.last_id];
    }
  }

  /** Marks the file as archived. The mark survives a restart. */
  markKept(): void {
    this.#sqlite.pragma(`user_version = ${keptVersion}`);
    this.isKept = true;
    this.progress.clear();
  }

  close(): void {
    this.#sqlite.close();
  }

  delete(): void {
    // The file is deleted first, so that closing it has nothing to write back.
    removeLogFile(this.#file);
    this.#sqlite.pragma('synchronous = OFF');
    this.#sqlite.close();
  }

  #load(): void {
    this.isKept = this.#sqlite.pragma('user_version', { simple: true }) === keptVersion;
    this.#streams.clear();
    const streams = this.#sqlite.prepare<[], { no: number; device_id: string; automation_id: string }>(
      'SELECT no, device_id, automation_id FROM stream',
    );
    for (const { no, device_id: deviceId, automation_id: automationId } of streams.iterate())
      this.#streams.set(streamKeyOf({ deviceId, automationId }), no);
    const runs = this.#sqlite.prepare<[], RunRow>(
      'SELECT run_id, max(last_seq) AS seq, max(newest) AS newest, max(last_id) AS last_id FROM batch GROUP BY run_id',
    );
    for (const { run_id: runId, seq, newest, last_id: lastId } of runs.iterate()) {
      if (!this.isKept) this.progress.set(runId, seq);
      this.newest = Math.max(this.newest, newest);
      if (lastId > this.lastId) this.lastId = lastId;
    }
  }

  #insert({ stream, lastId, firstId, lastSeq, oldest, newest, count, entries }: LogBatch): void {
    const no = this.#streamNo(stream);
    this.#insertBatch.run(no, lastId, firstId, stream.runId, lastSeq, oldest, newest, count, entries);
  }

  #streamNo(stream: StreamKey): number {
    const key = streamKeyOf(stream);
    const known = this.#streams.get(key);
    if (known !== undefined) return known;
    const no = this.#insertStream.get(stream.deviceId, stream.automationId)?.no ?? 0;
    this.#streams.set(key, no);
    return no;
  }
}

interface ReadLimits {
  maxBatches: number;
  sizeBytes: number;
}

function take<Row extends StoredBatch>(
  rows: Iterable<Row>,
  { maxBatches, sizeBytes }: ReadLimits,
): { batches: Row[]; isAll: boolean } {
  const batches: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    batches.push(row);
    bytes += row.entries.length;
    if (batches.length >= maxBatches || bytes >= sizeBytes) return { batches, isAll: false };
  }
  return { batches, isAll: true };
}

export function removeLogFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
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
