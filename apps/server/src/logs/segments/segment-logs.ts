import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { logWindowMs } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { Clock } from '../../clock.ts';
import { errorCodeOf } from '../../error-code.ts';
import { folderMissing, PartFailed } from '../../faults/fault.ts';
import type { StoredBatch } from '../log-batch.ts';
import type { Appended, ClosedLogs, IncomingEntries, LogStore, StreamKey } from '../log-store.ts';
import { createStoredProgress, selectNew } from '../stored-progress.ts';
import { IncreasingIds, isUuidV7 } from '../../uuid-v7.ts';
import { LogSegment } from './segment-store.ts';

const segmentMs = 60_000;
const fileSuffix = '.db';
const lastIdFile = 'last-id';
/** The one server knows by itself which connections are over. */
const noneReplaced: ReadonlySet<number> = new Set();

interface OpenSegment {
  segment: LogSegment;
  /** Takes no more entries. */
  isClosed: boolean;
  /** When it was begun, epoch ms by the service's clock. */
  begunAt: number;
}

interface SegmentLogsOptions {
  folder: string;
  clock: Clock;
  log: Logger;
  /** Number of the last entry of a run that is kept beyond the segments; 0 when there is none. */
  keptSeqOf: (runId: string) => Promise<number>;
}

/** In segments, beside a database that is a file. Everything is done when a function returns, without a turn of the event loop. */
export class SegmentLogs implements LogStore {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #ids = new IncreasingIds();
  /** Oldest first. */
  readonly #segments: OpenSegment[] = [];
  readonly #progress = createStoredProgress();
  readonly #keptSeqOf: (runId: string) => Promise<number>;

  constructor(options: SegmentLogsOptions) {
    this.#folder = options.folder;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#keptSeqOf = options.keptSeqOf;
    mkdirSync(this.#folder, { recursive: true });
    this.#openAll();
    this.#expire();
  }

  get #all(): readonly LogSegment[] {
    return this.#segments.map((open) => open.segment);
  }

  begin(runId: string): void {
    this.#progress.set(runId, 0);
  }

  async findProgress(runId: string): Promise<void> {
    if (this.#progress.has(runId)) return;
    const kept = await this.#keptSeqOf(runId);
    const known = [kept, this.#progress.get(runId) ?? 0, ...this.#all.map((one) => one.progressOf(runId))];
    this.#progress.set(runId, Math.max(...known));
  }

  async append(incoming: readonly IncomingEntries[]): Promise<Appended> {
    const nowMs = this.#clock.now();
    const { batches, lastSeqs } = selectNew(incoming, this.#progress, { ids: this.#ids, nowMs });
    if (batches.length > 0) this.#current(nowMs).append(batches);
    for (const [runId, seq] of lastSeqs) this.#progress.set(runId, seq);
    return { batches, replaced: noneReplaced };
  }

  async *read(stream: StreamKey, from: string): AsyncGenerator<Iterable<StoredBatch>> {
    yield batchesIn(this.#all, stream, from);
  }

  async listUnkept(): Promise<LogSegment[]> {
    const last = this.#segments.at(-1);
    for (const open of this.#segments) open.isClosed ||= open !== last || this.#isOver(open);
    return this.#segments
      .filter(({ segment, isClosed }) => isClosed && !segment.isKept)
      .map(({ segment }) => segment);
  }

  async expire(): Promise<void> {
    this.#expire();
  }

  #expire(): void {
    // Any of them, not only the oldest: a clock that was ahead must not keep what came after it.
    const expired = this.#segments.filter((open) => open.segment.isKept && this.#isPastWindow(open));
    for (const open of expired) this.#drop(open);
  }

  isPastWindow(segment: ClosedLogs): boolean {
    const open = this.#segments.find((one) => one.segment === segment);
    return open !== undefined && this.#isPastWindow(open);
  }

  /**
   * When all entries have expired, a later process still has to go on after the last ID. Only then: what is deleted to
   * make room must not need room.
   */
  #keepLastId({ segment: { lastId } }: OpenSegment): void {
    if (lastId <= this.#readLastId() || this.#all.some((segment) => segment.lastId > lastId)) return;
    const file = path.join(this.#folder, lastIdFile);
    writeFileSync(`${file}.new`, lastId, { flush: true });
    renameSync(`${file}.new`, file);
  }

  #readLastId(): string {
    const file = path.join(this.#folder, lastIdFile);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  #resumeIds(): void {
    for (const lastId of [this.#readLastId(), ...this.#all.map((segment) => segment.lastId)]) {
      if (isUuidV7(lastId)) this.#ids.resumeAfter(lastId);
    }
  }

  close(): void {
    for (const { segment } of this.#segments.splice(0)) segment.close();
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

function* batchesIn(
  segments: readonly LogSegment[],
  { deviceId, automationId }: StreamKey,
  from: string,
): Generator<StoredBatch> {
  for (const segment of segments) {
    if (segment.lastId > from) yield* segment.read(deviceId, automationId, from);
  }
}
