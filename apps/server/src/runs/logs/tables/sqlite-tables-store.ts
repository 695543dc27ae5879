import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../kernel/clock.ts';
import { errorCodeOf } from '../../../kernel/errors/api-error.ts';
import { folderMissing, PartFailed } from '../../../kernel/faults/fault-monitor.ts';
import type { StoredBatch } from '../log-batch.ts';
import { LogFile, removeLogFile } from './log-file-store.ts';
import type { AskedBatches, Flush, Flushed, FoundBatches, LogTable, LogTables } from './log-tables.ts';
import type { ProgressStore } from './progress-store.ts';

/** Bytes read at a time, which takes less than a millisecond. */
const readBytes = 256 * 1024;
const lastIdFile = 'last-id';
/**
 * Names of log files: number and opening time. Files are numbered in opening order, because the clock may have been set
 * back.
 */
const fileName = /^(?<no>\d+)-(?<begunAt>\d+)\.db$/;

interface FileTable {
  readonly no: number;
  /** Opening time by the server's clock, epoch ms. */
  readonly begunAt: number;
  readonly file: LogFile;
  isClosed: boolean;
}

interface Options {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly progress: ProgressStore;
}

/**
 * Stores each table in a separate SQLite file, so that appends wait for no other transactions, and expiry just deletes
 * a file. The numbers of the last stored entries are in the file until it is archived, and then in the database. A
 * single server uses the files, and knows by itself which connections are stale.
 */
export class SqliteTables implements LogTables {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #progress: ProgressStore;
  /** Tables, oldest first. */
  readonly #tables: FileTable[] = [];

  /** Throws when the folder can't be used. */
  constructor({ folder, clock, log, progress }: Options) {
    this.#folder = folder;
    this.#log = log;
    this.#progress = progress;
    mkdirSync(folder, { recursive: true });
    this.#openAll(clock.now());
  }

  async list(): Promise<LogTable[]> {
    return this.#tables.map(({ no, begunAt, file, isClosed }) => ({
      no,
      slot: no,
      begun_at: begunAt,
      newest: file.newest,
      last_id: file.lastId,
      state: file.isKept ? 'kept' : isClosed ? 'closed' : 'open',
    }));
  }

  async progressOf(runIds: readonly string[]): Promise<Map<string, number>> {
    const seqs = await this.#progress.of(runIds);
    for (const [runId, seq] of seqs) {
      const inFiles = this.#tables.map(({ file }) => file.progress.get(runId) ?? 0);
      seqs.set(runId, Math.max(seq, ...inFiles));
    }
    return seqs;
  }

  async append({ no }: LogTable, { changes, hosts, batches }: Flush): Promise<Flushed> {
    const table = this.#find(no);
    const takesMore = table !== undefined && !table.isClosed;
    if (takesMore) table.file.append(batches);
    return {
      runIds: new Set(takesMore ? changes.map((change) => change.run_id) : []),
      lastIds: new Map(hosts.map(({ epoch }) => [epoch, ''])),
    };
  }

  async read(
    tables: readonly LogTable[],
    { stream, after, maxBatches }: AskedBatches,
  ): Promise<FoundBatches> {
    const newest = this.#tables.at(-1)?.no ?? 0;
    for (const { no } of tables) {
      const found = this.#find(no)?.file.read(stream, after, { maxBatches, sizeBytes: readBytes });
      if (found !== undefined && found.batches.length > 0)
        return { ...found, isAll: found.isAll && no === tables.at(-1)?.no, newest };
    }
    return { batches: [], isAll: true, newest };
  }

  async *readAll({ no }: LogTable, stepBytes: number): AsyncGenerator<StoredBatch[]> {
    const table = this.#find(no);
    if (table !== undefined) yield* table.file.readAll(stepBytes);
  }

  async lastId(): Promise<string> {
    const ids = this.#tables.map(({ file }) => file.lastId);
    return [this.#readLastId(), ...ids].toSorted().at(-1) ?? '';
  }

  async open(nowMs: number): Promise<void> {
    if (this.#tables.some(({ isClosed }) => !isClosed)) return;
    const no = Math.max(0, ...this.#names().map(({ no: one }) => one)) + 1;
    const name = path.join(this.#folder, `${String(no).padStart(12, '0')}-${nowMs}.db`);
    try {
      this.#tables.push({ no, begunAt: nowMs, file: new LogFile(name), isClosed: false });
    } catch (error) {
      // Without the deletion, a full disk would fill the folder with incomplete files.
      removeLogFile(name);
      throw error;
    }
  }

  async close({ no }: LogTable): Promise<void> {
    const table = this.#find(no);
    if (table !== undefined) table.isClosed = true;
  }

  async markKept({ no }: LogTable): Promise<void> {
    const file = this.#find(no)?.file;
    if (file === undefined) return;
    await this.#progress.save(file.progress);
    file.markKept();
  }

  async empty({ no }: LogTable): Promise<void> {
    const table = this.#find(no);
    if (table === undefined) return;
    this.#keepLastId(table.file.lastId);
    this.#tables.splice(this.#tables.indexOf(table), 1);
    table.file.delete();
  }

  release(): void {
    for (const { file } of this.#tables.splice(0)) file.close();
  }

  #find(no: number): FileTable | undefined {
    return this.#tables.findLast((table) => table.no === no);
  }

  /** Opens all files. All but the last one are closed for appends. */
  #openAll(nowMs: number): void {
    const names = this.#names().toSorted((a, b) => a.no - b.no);
    for (const { name, no, begunAt } of names) {
      const file = this.#tryOpen(path.join(this.#folder, name));
      if (file !== undefined)
        this.#tables.push({ no, begunAt: Math.min(begunAt, nowMs), file, isClosed: true });
    }
    const last = this.#tables.at(-1);
    if (last !== undefined) last.isClosed = last.file.isKept;
  }

  /**
   * Opens a file. Deletes a damaged file, for example after a power loss: it costs a minute of logs, not the start of
   * the service.
   */
  #tryOpen(file: string): LogFile | undefined {
    try {
      return new LogFile(file);
    } catch (error) {
      if (errorCodeOf(error) === 'SQLITE_BUSY') throw error;
      this.#log.error({ err: error, file }, 'a log file is damaged and was deleted');
      removeLogFile(file);
      return undefined;
    }
  }

  #names(): { name: string; no: number; begunAt: number }[] {
    try {
      return readdirSync(this.#folder).flatMap((name) => {
        const { no, begunAt } = fileName.exec(name)?.groups ?? {};
        return no === undefined ? [] : [{ name, no: Number(no), begunAt: Number(begunAt) }];
      });
    } catch (error) {
      if (errorCodeOf(error) !== 'ENOENT') throw error;
      throw new PartFailed(folderMissing, { cause: error });
    }
  }

  /**
   * Writes the last ID to a separate file when no other entries are left, because a later process must continue after
   * it. Other deletions write nothing: a deletion that makes room must not need room.
   */
  #keepLastId(lastId: string): void {
    if (lastId <= this.#readLastId() || this.#tables.some(({ file }) => file.lastId > lastId)) return;
    const file = path.join(this.#folder, lastIdFile);
    writeFileSync(`${file}.new`, lastId, { flush: true });
    renameSync(`${file}.new`, file);
  }

  #readLastId(): string {
    const file = path.join(this.#folder, lastIdFile);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }
}
