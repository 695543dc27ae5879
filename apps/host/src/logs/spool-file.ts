import { type FileHandle, open, rm, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { WireLogEntry } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const segmentPattern = new RegExp(`^(${uuid})\\.(\\d{1,15})\\.ndjson$`);
const isLine = Compile(Type.Array(Type.Unknown(), { minItems: 2 }));
const isFirstSeq = Compile(Type.Integer({ minimum: 1 }));
const isEntry = Compile(WireLogEntry);

/** One file of a run's spool, with the number of the last entry in it. */
export interface Segment {
  path: string;
  lastSeq: number;
}

interface SpoolFileOptions {
  dir: string;
  runId: string;
  segmentBytes: number;
  /** Maximum age of a file, in milliseconds. Then a new file follows, and the old one is deleted once it is stored. */
  segmentMs: number;
  log: Logger;
  /** Files that an earlier process of the host left behind. */
  segments?: readonly Segment[];
}

/**
 * Spools a run's entries to disk, so that they survive a killed host. A line is the JSON of `[number of the first
 * entry, entry, entry, …]`. Nothing waits for the disk and nothing is flushed: the kernel keeps written data when the
 * process is killed. After a disk failure, entries are only in memory.
 */
export class SpoolFile {
  readonly #options: SpoolFileOptions;
  #segments: Segment[];
  #handle: FileHandle | undefined;
  #handleBytes = 0;
  #openedAt = 0;
  #storedSeq = 0;
  #retirement: NodeJS.Timeout | undefined;
  #waiting: string[] = [];
  #waitingFirstSeq = 0;
  #work: Promise<void> = Promise.resolve();
  #isWriting = false;
  #hasFailed = false;

  constructor(options: SpoolFileOptions) {
    this.#options = options;
    this.#segments = [...(options.segments ?? [])];
  }

  /** Writes the entry in the background, batched with its neighbours. Entries must come in order. */
  append(seq: number, entry: string): void {
    if (this.#hasFailed) return;
    if (this.#waiting.length === 0) this.#waitingFirstSeq = seq;
    this.#waiting.push(entry);
    if (this.#isWriting) return;
    this.#isWriting = true;
    this.#work = this.#work.then(() => this.#write());
  }

  /** Deletes fully stored files. The file that is open for writing is deleted once `segmentMs` have passed. */
  trim(storedSeq: number): void {
    this.#storedSeq = Math.max(this.#storedSeq, storedSeq);
    const isDone = (segment: Segment, index: number): boolean =>
      segment.lastSeq <= storedSeq && (this.#handle === undefined || index < this.#segments.length - 1);
    const done = this.#segments.filter(isDone);
    this.#segments = this.#segments.filter((segment) => !done.includes(segment));
    if (done.length > 0) this.#work = this.#work.then(() => this.#unlink(done));
    if (this.#handle !== undefined) this.#retireLater();
  }

  /** Stops writing. The files stay. */
  async close(): Promise<void> {
    clearTimeout(this.#retirement);
    await this.#work;
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch((error: unknown) => this.#fail(error));
  }

  async remove(): Promise<void> {
    this.#hasFailed = true;
    await this.close();
    await this.#unlink(this.#segments.splice(0));
  }

  async #write(): Promise<void> {
    // Entries of one turn of the event loop share a line.
    await new Promise(setImmediate);
    try {
      while (this.#waiting.length > 0 && !this.#hasFailed) await this.#writeLine();
    } catch (error) {
      this.#fail(error);
    }
    this.#isWriting = false;
  }

  async #writeLine(): Promise<void> {
    const firstSeq = this.#waitingFirstSeq;
    const entries = this.#waiting;
    this.#waiting = [];
    const line = Buffer.from(`[${firstSeq},${entries.join(',')}]\n`);
    const { handle, segment } = await this.#segmentFor(firstSeq);
    this.#handleBytes += line.byteLength;
    segment.lastSeq = firstSeq + entries.length - 1;
    await handle.appendFile(line);
  }

  async #segmentFor(firstSeq: number): Promise<{ handle: FileHandle; segment: Segment }> {
    const current = this.#segments.at(-1);
    if (
      this.#handle !== undefined &&
      current !== undefined &&
      this.#handleBytes < this.#options.segmentBytes &&
      performance.now() - this.#openedAt < this.#options.segmentMs
    ) {
      return { handle: this.#handle, segment: current };
    }
    await this.#handle?.close();
    this.#handle = undefined;
    const segment = {
      path: join(this.#options.dir, segmentName(this.#options.runId, firstSeq)),
      lastSeq: firstSeq,
    };
    const handle = await open(segment.path, 'a');
    this.#handle = handle;
    this.#handleBytes = 0;
    this.#openedAt = performance.now();
    this.#retireLater();
    this.#segments.push(segment);
    return { handle, segment };
  }

  /**
   * Schedules the rotation of the open file. A run may be silent for days, and its stored entries must not stay on disk
   * for as long.
   */
  #retireLater(): void {
    if (this.#retirement !== undefined) return;
    const dueMs = Math.max(0, this.#openedAt + this.#options.segmentMs - performance.now());
    this.#retirement = setTimeout(() => {
      this.#retirement = undefined;
      this.#work = this.#work.then(() => this.#retire()).catch((error: unknown) => this.#fail(error));
    }, dueMs).unref();
  }

  async #retire(): Promise<void> {
    const current = this.#segments.at(-1);
    if (this.#handle === undefined || (current?.lastSeq ?? 0) > this.#storedSeq) return;
    if (performance.now() - this.#openedAt < this.#options.segmentMs) return this.#retireLater();
    await this.#handle.close();
    this.#handle = undefined;
    this.trim(this.#storedSeq);
  }

  async #unlink(segments: readonly Segment[]): Promise<void> {
    for (const { path } of segments) {
      await rm(path, { force: true }).catch((error: unknown) => {
        this.#options.log.warn({ path, err: error }, 'A stored log file could not be deleted');
      });
    }
  }

  #fail(error: unknown): void {
    this.#waiting = [];
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const { runId, dir, log } = this.#options;
    log.error(
      { runId, dir, err: error },
      'A log can not be written to disk; it is kept in memory only. Is the disk full?',
    );
  }
}

function segmentName(runId: string, firstSeq: number): string {
  return `${runId}.${firstSeq}.ndjson`;
}

/** Log of a run that an earlier process of the host left behind. */
interface RecoveredLog {
  runId: string;
  /** Number of the first entry in `entries`; earlier entries are stored. */
  firstSeq: number;
  entries: string[];
  segments: Segment[];
}

interface Line {
  firstSeq: number;
  entries: string[];
}

export async function listSpooledRuns(dir: string): Promise<string[]> {
  const names = await readdir(dir);
  return [...new Set(names.flatMap((name) => segmentPattern.exec(name)?.[1] ?? []))];
}

/** Reads up to the end or the first invalid line, such as the torn last line of a killed host. */
export async function recoverLog(dir: string, runId: string): Promise<RecoveredLog> {
  const recovered: RecoveredLog = { runId, firstSeq: 1, entries: [], segments: [] };
  let isWhole = true;
  for (const { path, firstSeq } of await listSegments(dir, runId)) {
    if (recovered.segments.length === 0) recovered.firstSeq = firstSeq;
    if (isWhole) isWhole = takeLines(recovered, await readFile(path, 'utf8'));
    recovered.segments.push({ path, lastSeq: recovered.firstSeq + recovered.entries.length - 1 });
  }
  return recovered;
}

async function listSegments(dir: string, runId: string): Promise<{ path: string; firstSeq: number }[]> {
  const matches = (await readdir(dir)).map((name) => segmentPattern.exec(name));
  return matches
    .flatMap((match) =>
      match?.[1] === runId ? { path: join(dir, match[0]), firstSeq: Number(match[2]) } : [],
    )
    .sort((one, other) => one.firstSeq - other.firstSeq);
}

/** Returns false when the file ends before its last line is complete. */
function takeLines(recovered: RecoveredLog, text: string): boolean {
  const lines = text.split('\n');
  // Drops the text after the last line feed, which is an incomplete line.
  const rest = lines.pop();
  for (const line of lines) {
    const parsed = parseLine(line);
    if (parsed?.firstSeq !== recovered.firstSeq + recovered.entries.length) return false;
    for (const entry of parsed.entries) recovered.entries.push(entry);
  }
  return rest === '';
}

function parseLine(text: string): Line | undefined {
  const line = parseJson(text);
  if (!isLine.Check(line)) return undefined;
  const [firstSeq, ...entries] = line;
  if (!isFirstSeq.Check(firstSeq) || !entries.every((entry) => isEntry.Check(entry))) return undefined;
  return { firstSeq, entries: entries.map((entry) => JSON.stringify(entry)) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
