import {
  type SandboxLogEntry,
  logLevels,
  maxLogMessageLength,
  type WireLogEntry,
  wireStepLevel,
  maxLogEntriesPerFrame,
} from '@phalanx/protocol';

import type { ServiceClock } from '../connection/service-clock.ts';
import { hourMs } from '../time/durations.ts';
import type { EndedStep } from './run-trace.ts';
import type { LogBudget, LogLimits } from './log-limits.ts';
import type { SpoolFile } from './spool-file.ts';

/** A time further away than this from the host's own was made up by the run's process. */
const maxAgeMs = hourMs;

const maxLineNumber = 2 ** 31 - 1;

export interface SpooledLogOptions {
  runId: string;
  clock: ServiceClock;
  limits: LogLimits;
  budget: LogBudget;
  file: SpoolFile;
  isOnline: () => boolean;
  /** There may be something to send. */
  onChange: (log: SpooledLog) => void;
}

export interface LogFrame {
  firstSeq: number;
  payload: Buffer;
}

/** The log of one run: numbers the entries and holds them until they are stored. */
export class SpooledLog {
  readonly #options: SpooledLogOptions;
  readonly #window = new LogWindow();
  #storedSeq = 0;
  #sentSeq = 0;
  /** Number of the last entry of each frame that was sent and is not known to be stored. */
  #framesInFlight: number[] = [];
  #droppedCount = 0;
  #fullBufferBytes = 0;
  #pressure: PromiseWithResolvers<void> | undefined;
  #pressureTimer: NodeJS.Timeout | undefined;
  #isHeldBack = true;
  readonly #storedWaiters = new Set<() => void>();

  constructor(options: SpooledLogOptions) {
    this.#options = options;
  }

  get runId(): string {
    return this.#options.runId;
  }

  get allStored(): boolean {
    return this.#storedSeq >= this.#window.lastSeq;
  }

  get framesInFlight(): number {
    return this.#framesInFlight.length;
  }

  get hasFrame(): boolean {
    return (
      this.#sentSeq < this.#window.lastSeq && this.#framesInFlight.length < this.#options.limits.framesPerRun
    );
  }

  /** Entries that an earlier life of the host has spooled. To be called first. */
  restore(firstSeq: number, entries: readonly string[]): void {
    this.#storedSeq = firstSeq - 1;
    this.#sentSeq = this.#storedSeq;
    this.#window.trim(this.#storedSeq);
    for (const entry of entries) this.#hold(entry);
    this.#options.onChange(this);
  }

  /** The promise, if there is one, asks the run to wait. */
  push(entries: readonly SandboxLogEntry[]): Promise<void> | undefined {
    for (const entry of entries) this.#take(encodeLogEntry(entry, this.#options.clock));
    this.#options.onChange(this);
    return this.#isUnderPressure() ? this.#whenReleased() : undefined;
  }

  /** Steps come at a bounded rate, so that the run never waits for them. */
  pushStep(step: EndedStep): void {
    this.#take(encodeStep(step, this.#options.clock));
    this.#options.onChange(this);
  }

  /** The run is to end soon: from now on it never waits. */
  letGo(): void {
    this.#isHeldBack = false;
    this.#release();
  }

  /** The run has ended: nothing more comes. */
  finish(): void {
    this.#tellDropped();
    this.#release();
    this.#options.onChange(this);
  }

  /** The next frame to send; undefined when there is none, or enough are under way. */
  takeFrame(): LogFrame | undefined {
    if (!this.hasFrame) return undefined;
    const firstSeq = this.#sentSeq + 1;
    const entries = this.#window.slice(firstSeq, this.#options.limits.frameBytes);
    this.#sentSeq += entries.length;
    this.#framesInFlight.push(this.#sentSeq);
    return { firstSeq, payload: Buffer.from(`[${entries.join(',')}]`) };
  }

  /** All entries up to `seq` are stored. A server may have stored more than a killed host has kept. */
  acknowledge(seq: number): void {
    if (seq <= this.#storedSeq) return;
    this.#storedSeq = seq;
    this.#sentSeq = Math.max(this.#sentSeq, seq);
    this.#framesInFlight = this.#framesInFlight.filter((lastSeq) => lastSeq > seq);
    const beforeBytes = this.#window.sizeBytes;
    this.#window.trim(seq);
    this.#options.budget.usedBytes -= beforeBytes - this.#window.sizeBytes;
    this.#options.file.trim(seq);
    if (this.#window.sizeBytes <= this.#options.limits.pressureBytes / 2) this.#release();
    if (this.allStored) this.#tellStored();
    this.#options.onChange(this);
  }

  /** Sends frames again that were in flight on the old connection. Nothing is dropped from now on. */
  wentOnline(): void {
    this.#tellDropped();
    this.#options.onChange(this);
  }

  /** A run that waits for the server goes on: from now on entries are buffered, and dropped when that is full. */
  wentOffline(): void {
    this.#sentSeq = this.#storedSeq;
    this.#framesInFlight = [];
    this.#release();
  }

  async whenStored(): Promise<void> {
    if (this.allStored) return;
    const stored = Promise.withResolvers<void>();
    this.#storedWaiters.add(stored.resolve);
    await stored.promise;
  }

  async close(): Promise<void> {
    this.#release();
    await this.#options.file.close();
  }

  /** Forgets the log and deletes its files. */
  async remove(): Promise<void> {
    this.#options.budget.usedBytes -= this.#window.sizeBytes;
    this.#window.trim(this.#window.lastSeq);
    this.#release();
    await this.#options.file.remove();
  }

  #take(entry: string): void {
    if (this.#options.isOnline() || !this.#isFullWith(entry)) this.#append(entry);
    else this.#droppedCount += 1;
  }

  /** Once full, a gap lasts until the server is back: smaller entries don't slip into it. */
  #isFullWith(entry: string): boolean {
    if (this.#droppedCount > 0) return true;
    const { limits, budget } = this.#options;
    const sizeBytes = sizeOf(entry);
    const isRunFull = this.#window.sizeBytes + sizeBytes > limits.runBytes;
    this.#fullBufferBytes = isRunFull ? limits.runBytes : limits.totalBytes;
    return isRunFull || budget.usedBytes + sizeBytes > limits.totalBytes;
  }

  #append(entry: string): void {
    this.#options.file.append(this.#hold(entry), entry);
  }

  #hold(entry: string): number {
    this.#options.budget.usedBytes += sizeOf(entry);
    return this.#window.push(entry);
  }

  /** Takes the place of the entries that were dropped. */
  #tellDropped(): void {
    if (this.#droppedCount === 0) return;
    const count = this.#droppedCount;
    this.#droppedCount = 0;
    const what = count === 1 ? '1 log entry was dropped' : `${count} log entries were dropped`;
    const buffer = `${Math.max(1, Math.round(this.#fullBufferBytes / 1024 / 1024))} MiB`;
    const message = `${what} here: the service could not be reached and the buffer of ${buffer} was full`;
    const entry = { timestamp: Date.now(), level: 'warn', path: null, lineNumber: 0, message } as const;
    this.#append(encodeLogEntry(entry, this.#options.clock));
  }

  #isUnderPressure(): boolean {
    const { isOnline, limits } = this.#options;
    return this.#isHeldBack && isOnline() && this.#window.sizeBytes > limits.pressureBytes;
  }

  #whenReleased(): Promise<void> {
    if (this.#pressure === undefined) {
      const { pressureMs, runBytes } = this.#options.limits;
      const isFull = this.#window.sizeBytes >= runBytes;
      this.#pressure = Promise.withResolvers();
      this.#pressureTimer = setTimeout(() => this.#release(), isFull ? pressureMs * 10 : pressureMs);
    }
    return this.#pressure.promise;
  }

  #release(): void {
    clearTimeout(this.#pressureTimer);
    this.#pressure?.resolve();
    this.#pressure = undefined;
  }

  #tellStored(): void {
    for (const tell of this.#storedWaiters) tell();
    this.#storedWaiters.clear();
  }
}

/** One entry as it is stored and sent. The entry comes from a process that runs user code: nothing in it is trusted. */
function encodeLogEntry(entry: SandboxLogEntry, clock: ServiceClock): string {
  const { level, lineNumber, message, path } = entry;
  const wire: WireLogEntry = [
    clock.toService(believableTime(entry.timestamp)),
    logLevels.indexOf(level),
    Math.min(lineNumber, maxLineNumber),
    message.slice(0, maxLogMessageLength),
  ];
  return JSON.stringify(path === null ? wire : [...wire, path]);
}

function encodeStep({ timestamp, lineNumber, path, step }: EndedStep, clock: ServiceClock): string {
  const line = Math.min(lineNumber, maxLineNumber);
  const wire: WireLogEntry = [clock.toService(timestamp), wireStepLevel, line, JSON.stringify(step)];
  return JSON.stringify(path === null ? wire : [...wire, path]);
}

function believableTime(timestampMs: number): number {
  const nowMs = Date.now();
  return timestampMs >= nowMs - maxAgeMs && timestampMs <= nowMs ? timestampMs : nowMs;
}

/** Rough cost of an entry beside its text, in bytes, so that a million empty lines count too. */
const entryOverheadBytes = 32;

export function sizeOf(entry: string): number {
  return Buffer.byteLength(entry) + entryOverheadBytes;
}

/** The encoded entries of a run that the server has not stored yet, in order of their numbers. */
export class LogWindow {
  #entries: string[] = [];
  /** Entries at the front of the array that are gone: moving the rest at every step would cost too much. */
  #goneCount = 0;
  #firstSeq = 1;
  #sizeBytes = 0;

  /** Number of the newest entry that ever was in the window; 0 when there was none. */
  get lastSeq(): number {
    return this.#firstSeq + this.#entries.length - this.#goneCount - 1;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Returns the number of the entry. */
  push(entry: string): number {
    this.#entries.push(entry);
    this.#sizeBytes += sizeOf(entry);
    return this.lastSeq;
  }

  /** The entries from number `seq` on that fit into one frame; at least one if there is one. */
  slice(seq: number, maxBytes: number): string[] {
    const start = this.#goneCount + seq - this.#firstSeq;
    let end = start;
    let sizeBytes = 0;
    for (; end < this.#entries.length && end - start < maxLogEntriesPerFrame; end += 1) {
      sizeBytes += Buffer.byteLength(this.#entries[end] ?? '');
      if (sizeBytes > maxBytes && end > start) break;
    }
    return this.#entries.slice(start, end);
  }

  /** Forgets the entries up to number `seq`. A number beyond the last one moves the numbering on. */
  trim(seq: number): void {
    for (; this.#firstSeq <= seq && this.#goneCount < this.#entries.length; this.#firstSeq += 1) {
      this.#sizeBytes -= sizeOf(this.#entries[this.#goneCount] ?? '');
      this.#entries[this.#goneCount] = '';
      this.#goneCount += 1;
    }
    this.#firstSeq = Math.max(this.#firstSeq, seq + 1);
    if (this.#goneCount * 2 >= this.#entries.length) {
      this.#entries = this.#entries.slice(this.#goneCount);
      this.#goneCount = 0;
    }
  }
}
