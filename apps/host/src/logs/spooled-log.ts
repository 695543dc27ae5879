import {
  type SandboxLogEntry,
  logLevels,
  maxLogMessageLength,
  type WireLogEntry,
  wireStepLevel,
  maxLogEntriesPerFrame,
} from '@phalanx/protocol';

import type { ServiceClock } from '../connection/service-clock.ts';
import { hourMs } from '@phalanx/timing/durations';
import type { EndedStep } from './run-trace.ts';
import type { LogBudget, LogLimits } from './log-limits.ts';
import type { LogChange } from './log-table.ts';

/** Maximum distance from the host's own time, in milliseconds. A time beyond it was made up by the run's process. */
const maxAgeMs = hourMs;

const maxLineNumber = 2 ** 31 - 1;

export interface SpooledLogOptions {
  runId: string;
  clock: ServiceClock;
  limits: LogLimits;
  budget: LogBudget;
  isOnline: () => boolean;
  /** Called when there may be something to send. */
  onChange: (log: SpooledLog) => void;
}

export interface LogFrame {
  firstSeq: number;
  payload: Buffer;
}

/** Log of one run: numbers the entries and holds them until they are stored. */
export class SpooledLog {
  readonly #options: SpooledLogOptions;
  readonly #window = new LogWindow();
  #storedSeq = 0;
  #sentSeq = 0;
  /** Number of the last entry that is on disk. */
  #writtenSeq = 0;
  /** Number up to which the entries are deleted from the disk. */
  #trimmedSeq = 0;
  /** Number of the last entry of each unacknowledged frame. */
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

  /** Restores entries that an earlier process of the host spooled. Must be called first. */
  restore(firstSeq: number, entries: readonly string[]): void {
    this.#storedSeq = firstSeq - 1;
    this.#sentSeq = this.#storedSeq;
    this.#trimmedSeq = this.#storedSeq;
    this.#window.trim(this.#storedSeq);
    for (const entry of entries) this.#hold(entry);
    this.#writtenSeq = this.#window.lastSeq;
    this.#options.onChange(this);
  }

  /** Adds entries. Returns a promise when the run has to wait until it resolves. */
  push(entries: readonly SandboxLogEntry[]): Promise<void> | undefined {
    for (const entry of entries) this.#take(encodeLogEntry(entry, this.#options.clock));
    this.#options.onChange(this);
    return this.#isUnderPressure() ? this.#whenReleased() : undefined;
  }

  /** Adds a step. Steps come at a bounded rate, so the run never waits for them. */
  pushStep(step: EndedStep): void {
    this.#take(encodeStep(step, this.#options.clock));
    this.#options.onChange(this);
  }

  /** Releases the run for good, because it ends soon. */
  letGo(): void {
    this.#isHeldBack = false;
    this.#release();
  }

  /** Closes the log at the end of the run; no entry may follow. */
  finish(): void {
    this.#tellDropped();
    this.#release();
    this.#options.onChange(this);
  }

  /** Returns the next frame to send; undefined when there is none or when enough frames are in flight. */
  takeFrame(): LogFrame | undefined {
    if (!this.hasFrame) return undefined;
    const firstSeq = this.#sentSeq + 1;
    const entries = this.#window.slice(firstSeq, this.#options.limits.frameBytes);
    this.#sentSeq += entries.length;
    this.#framesInFlight.push(this.#sentSeq);
    return { firstSeq, payload: Buffer.from(`[${entries.join(',')}]`) };
  }

  /**
   * Records that all entries up to `seq` are stored. The server may have stored more entries than a killed host has
   * spooled.
   */
  acknowledge(seq: number): void {
    if (seq <= this.#storedSeq) return;
    this.#storedSeq = seq;
    this.#sentSeq = Math.max(this.#sentSeq, seq);
    this.#framesInFlight = this.#framesInFlight.filter((lastSeq) => lastSeq > seq);
    const beforeBytes = this.#window.sizeBytes;
    this.#window.trim(seq);
    this.#options.budget.usedBytes -= beforeBytes - this.#window.sizeBytes;
    if (this.#window.sizeBytes <= this.#options.limits.pressureBytes / 2) this.#release();
    if (this.allStored) this.#tellStored();
    this.#options.onChange(this);
  }

  /** Sends all unacknowledged frames again. From now on no entry is dropped. */
  wentOnline(): void {
    this.#tellDropped();
    this.#options.onChange(this);
  }

  /**
   * Releases a run that waits for the server. From now on entries are buffered, and dropped when the buffer is full.
   */
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

  /** Whether the disk holds what the server has not stored, and nothing else. */
  get isOnDisk(): boolean {
    return this.#nextToWrite > this.#window.lastSeq && this.#trimmedSeq >= this.#storedSeq;
  }

  /** Returns what is to be written to disk next, of limited size. */
  unwritten(): LogChange {
    const firstSeq = this.#nextToWrite;
    const entries = this.#window.slice(firstSeq, this.#options.limits.chunkBytes);
    return { runId: this.runId, firstSeq, entries, storedSeq: this.#storedSeq };
  }

  /** Records that the change is on disk. */
  written({ firstSeq, entries, storedSeq }: LogChange): void {
    this.#writtenSeq = Math.max(this.#writtenSeq, firstSeq + entries.length - 1);
    this.#trimmedSeq = Math.max(this.#trimmedSeq, storedSeq);
  }

  /** Forgets the entries, and releases the run. */
  forget(): void {
    this.#options.budget.usedBytes -= this.#window.sizeBytes;
    this.#window.trim(this.#window.lastSeq);
    this.#writtenSeq = this.#window.lastSeq;
    this.#trimmedSeq = this.#storedSeq;
    this.#release();
  }

  close(): void {
    this.#release();
  }

  get #nextToWrite(): number {
    return Math.max(this.#writtenSeq, this.#storedSeq) + 1;
  }

  #take(entry: string): void {
    if (this.#options.isOnline() || !this.#isFullWith(entry)) this.#hold(entry);
    else this.#droppedCount += 1;
  }

  /**
   * Whether the buffer has no room for the entry. Once full, it stays full until the server is back, so that smaller
   * entries do not slip into the gap.
   */
  #isFullWith(entry: string): boolean {
    if (this.#droppedCount > 0) return true;
    const { limits, budget } = this.#options;
    const sizeBytes = sizeOf(entry);
    const isRunFull = this.#window.sizeBytes + sizeBytes > limits.runBytes;
    this.#fullBufferBytes = isRunFull ? limits.runBytes : limits.totalBytes;
    return isRunFull || budget.usedBytes + sizeBytes > limits.totalBytes;
  }

  #hold(entry: string): void {
    this.#options.budget.usedBytes += sizeOf(entry);
    this.#window.push(entry);
  }

  /** Adds an entry in place of the dropped ones that gives their number. */
  #tellDropped(): void {
    if (this.#droppedCount === 0) return;
    const count = this.#droppedCount;
    this.#droppedCount = 0;
    const what = count === 1 ? '1 log entry was dropped' : `${count} log entries were dropped`;
    const buffer = `${Math.max(1, Math.round(this.#fullBufferBytes / 1024 / 1024))} MiB`;
    const message = `${what} here: the service could not be reached and the buffer of ${buffer} was full`;
    const entry = { timestamp: Date.now(), level: 'warn', path: null, lineNumber: 0, message } as const;
    this.#hold(encodeLogEntry(entry, this.#options.clock));
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

/**
 * Encodes an entry for storage and for sending. The entry comes from a process that runs user code, so nothing in it is
 * trusted.
 */
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

/** Rough overhead of an entry besides its text, in bytes, so that a million empty lines count too. */
const entryOverheadBytes = 32;

export function sizeOf(entry: string): number {
  return Buffer.byteLength(entry) + entryOverheadBytes;
}

/** Encoded entries of a run that the server has not stored yet, in order of their numbers. */
export class LogWindow {
  #entries: string[] = [];
  /** Number of removed entries at the front of the array. Moving the rest at every removal would cost too much. */
  #goneCount = 0;
  #firstSeq = 1;
  #sizeBytes = 0;

  /** Number of the newest entry that was ever in the window; 0 when there was none. */
  get lastSeq(): number {
    return this.#firstSeq + this.#entries.length - this.#goneCount - 1;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  push(entry: string): void {
    this.#entries.push(entry);
    this.#sizeBytes += sizeOf(entry);
  }

  /** Returns the entries from number `seq` on that fit into one frame, but at least one if any exists. */
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

  /** Removes the entries up to number `seq`. A number beyond the last entry advances the numbering. */
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
