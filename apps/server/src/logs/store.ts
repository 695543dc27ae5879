import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { logWindowMs, type WireLogEntry } from '@phalanx/protocol';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';

import type { Clock } from '../clock.ts';
import { errorCodeOf } from '../error-code.ts';
import { folderMissing, PartFailed } from '../faults/fault.ts';
import { encodeBatch, type LogBatch, type LogStream } from './log-batch.ts';
import { IncreasingIds, isUuidV7 } from '../uuid-v7.ts';
import { LogSegment } from './segment-store.ts';

const segmentMs = 60_000;
const fileSuffix = '.db';
const lastIdFile = 'last-id';

/** Entries of one run as a host sent them, numbered from `firstSeq`. */
export interface IncomingEntries {
  stream: LogStream;
  firstSeq: number;
  entries: readonly WireLogEntry[];
}

interface OpenSegment {
  segment: LogSegment;
  /** Takes no more entries. */
  isClosed: boolean;
  /** When it was begun, epoch ms by the service's clock. */
  begunAt: number;
}

interface LogStoreOptions {
  folder: string;
  clock: Clock;
  log: Logger;
  /** Number of the last entry of a run that is kept beyond the segments; 0 when there is none. */
  keptSeqOf: (runId: string) => Promise<number>;
}

/** The log entries of the last 10 minutes, in segments. */
export class LogStore {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #ids = new IncreasingIds();
  /** Oldest first. */
  readonly #segments: OpenSegment[] = [];
  /** Number of the last stored entry of each run that has logged lately. */
  readonly #progress = new LRUCache<string, number>({ max: 200_000 });
  readonly #keptSeqOf: (runId: string) => Promise<number>;

  constructor(options: LogStoreOptions) {
    this.#folder = options.folder;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#keptSeqOf = options.keptSeqOf;
    mkdirSync(this.#folder, { recursive: true });
    this.#openAll();
    this.expire();
  }

  /** The segments from the oldest to the newest. */
  get segments(): readonly LogSegment[] {
    return this.#segments.map((open) => open.segment);
  }

  /** A run that begins now has no entries: its first ones need not wait for a look at the disk. */
  begin(runId: string): void {
    this.#progress.set(runId, 0);
  }

  /** Finds what is stored of a run that has not logged lately. To be awaited before its entries are appended. */
  async findProgress(runId: string): Promise<void> {
    if (this.#progress.has(runId)) return;
    const kept = await this.#keptSeqOf(runId);
    const known = [
      kept,
      this.#progress.get(runId) ?? 0,
      ...this.segments.map((one) => one.progressOf(runId)),
    ];
    this.#progress.set(runId, Math.max(...known));
  }

  /**
   * Stores what is new; entries that a host sends once more are known by their number. Returns the batches that were
   * stored. When it returns, everything up to the last number given is safe. Throws when nothing could be stored.
   */
  append(incoming: readonly IncomingEntries[]): LogBatch[] {
    const nowMs = this.#clock.now();
    const accepted = new Map<string, number>();
    const batches = incoming
      .map((entries) => this.#accept(entries, nowMs, accepted))
      .filter((batch) => batch !== null);
    if (batches.length > 0) this.#current(nowMs).append(batches);
    for (const [runId, seq] of accepted) this.#progress.set(runId, seq);
    return batches;
  }

  /** The segments that take no more entries and are not kept, oldest first. */
  listUnkept(): LogSegment[] {
    const last = this.#segments.at(-1);
    for (const open of this.#segments) open.isClosed ||= open !== last || this.#isOver(open);
    return this.#segments
      .filter(({ segment, isClosed }) => isClosed && !segment.isKept)
      .map(({ segment }) => segment);
  }

  /** Deletes what is older than the window and kept with its runs, from the disk too. */
  expire(): void {
    // Any of them, not only the oldest: a clock that was ahead must not keep what came after it.
    const expired = this.#segments.filter((open) => open.segment.isKept && this.#isPastWindow(open));
    for (const open of expired) this.#drop(open);
  }

  /** Whether nothing of the segment is in the window any more. */
  isPastWindow(segment: LogSegment): boolean {
    const open = this.#segments.find((one) => one.segment === segment);
    return open !== undefined && this.#isPastWindow(open);
  }

  /**
   * When all entries have expired, a later process still has to go on after the last ID. Only then: what is deleted to
   * make room must not need room.
   */
  #keepLastId({ segment: { lastId } }: OpenSegment): void {
    if (lastId <= this.#readLastId() || this.segments.some((segment) => segment.lastId > lastId)) return;
    const file = path.join(this.#folder, lastIdFile);
    writeFileSync(`${file}.new`, lastId, { flush: true });
    renameSync(`${file}.new`, file);
  }

  #readLastId(): string {
    const file = path.join(this.#folder, lastIdFile);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  #resumeIds(): void {
    for (const lastId of [this.#readLastId(), ...this.segments.map((segment) => segment.lastId)]) {
      if (isUuidV7(lastId)) this.#ids.resumeAfter(lastId);
    }
  }

  close(): void {
    for (const { segment } of this.#segments.splice(0)) segment.close();
  }

  #accept(
    { stream, firstSeq, entries }: IncomingEntries,
    nowMs: number,
    accepted: Map<string, number>,
  ): LogBatch | null {
    const known = accepted.get(stream.runId) ?? this.#progress.get(stream.runId) ?? 0;
    const lastSeq = firstSeq + entries.length - 1;
    if (lastSeq <= known) return null;
    accepted.set(stream.runId, lastSeq);
    const fresh = entries.slice(Math.max(0, known + 1 - firstSeq));
    return encodeBatch(this.#ids, nowMs, stream, { lastSeq, entries: fresh });
  }

  #current(nowMs: number): LogSegment {
    const last = this.#segments.at(-1);
    const isCurrent = last !== undefined && !last.isClosed && !this.#isOver(last) && nowMs >= last.begunAt;
    if (isCurrent) return last.segment;
    const segment = this.#open(nowMs);
    this.#segments.push({ segment, begunAt: nowMs, isClosed: false });
    return segment;
  }

  /** Files are numbered as they are begun; the time is in the name because the clock may have been moved. */
  #open(begunAt: number): LogSegment {
    const no = String(this.#nextNo()).padStart(12, '0');
    const file = path.join(this.#folder, `${no}-${begunAt}${fileSuffix}`);
    try {
      return new LogSegment(file);
    } catch (error) {
      // Else a full disk would fill the folder with beginnings.
      removeFile(file);
      throw error;
    }
  }

  #nextNo(): number {
    const numbers = this.#files().map((name) => Number.parseInt(name, 10));
    return Math.max(0, ...numbers) + 1;
  }

  #files(): string[] {
    return this.#names()
      .filter((name) => /^\d+-\d+\.db$/.test(name))
      .sort();
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch (error) {
      if (errorCodeOf(error) !== 'ENOENT') throw error;
      throw new PartFailed(folderMissing, { cause: error });
    }
  }

  #openAll(): void {
    const nowMs = this.#clock.now();
    for (const name of this.#files()) {
      const begunAt = Math.min(Number(name.slice(name.indexOf('-') + 1, -fileSuffix.length)), nowMs);
      const segment = this.#tryOpen(path.join(this.#folder, name));
      if (segment !== null) this.#segments.push({ segment, begunAt, isClosed: segment.isKept });
    }
    for (const { segment } of this.#segments) {
      for (const { run_id: runId, seq } of segment.progress()) this.#progress.set(runId, seq);
    }
    this.#resumeIds();
  }

  /** A file that a loss of power has damaged costs its minute of logs, not the start of the service. */
  #tryOpen(file: string): LogSegment | null {
    try {
      return new LogSegment(file);
    } catch (error) {
      if (errorCodeOf(error) === 'SQLITE_BUSY') throw error;
      this.#log.error({ err: error, file }, 'a log file is damaged and was deleted');
      removeFile(file);
      return null;
    }
  }

  #isOver({ begunAt }: OpenSegment): boolean {
    return begunAt + segmentMs <= this.#clock.now();
  }

  #isPastWindow({ segment, begunAt }: OpenSegment): boolean {
    return Math.max(segment.newest, begunAt) <= this.#clock.now() - logWindowMs;
  }

  #drop(open: OpenSegment): void {
    this.#keepLastId(open);
    this.#segments.splice(this.#segments.indexOf(open), 1);
    open.segment.delete();
  }
}

function removeFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}
