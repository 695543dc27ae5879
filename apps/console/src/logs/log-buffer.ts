import type { LogEntry } from '@phalanx/protocol';

/** The most lines that a page holds. */
const mostLines = 50_000;

export interface LogSnapshot {
  readonly entries: readonly LogEntry[];
  /** How many made room for newer ones. */
  readonly dropped: number;
  readonly error: unknown;
  readonly isLoaded: boolean;
  /** Whether the service left some out in the middle. */
  readonly isTruncated: boolean;
}

const nothing: LogSnapshot = { entries: [], dropped: 0, error: null, isLoaded: false, isTruncated: false };

/** The lines of a log as far as they were read; the page is drawn at most once a frame, however fast they come. */
export class LogBuffer {
  #snapshot = nothing;
  #pending: LogEntry[] = [];
  #isDue = false;
  readonly #listeners = new Set<() => void>();
  /** The end of the log, shown until everything before it is read. */
  #end: readonly LogEntry[] | undefined;
  #read: readonly LogEntry[] = [];

  readonly get = (): LogSnapshot => this.#snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The last entries of a log whose others are still to be read. */
  showEnd(entries: readonly LogEntry[]): void {
    this.#end = entries;
    this.#set({ ...this.#snapshot, entries });
  }

  add(entries: readonly LogEntry[]): void {
    this.#pending.push(...entries);
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => this.#flush());
  }

  note(change: Partial<Pick<LogSnapshot, 'error' | 'isLoaded' | 'isTruncated'>>): void {
    this.#set({ ...this.#snapshot, ...change });
    if (change.isLoaded !== true || this.#end === undefined) return;
    this.#end = undefined;
    this.#flush();
  }

  #flush(): void {
    this.#isDue = false;
    const all = [...this.#read, ...this.#pending];
    this.#pending = [];
    const excess = Math.max(0, all.length - mostLines);
    this.#read = excess === 0 ? all : all.slice(excess);
    const entries = this.#end ?? this.#read;
    this.#set({ ...this.#snapshot, entries, dropped: this.#snapshot.dropped + excess });
  }

  #set(snapshot: LogSnapshot): void {
    this.#snapshot = snapshot;
    for (const listener of this.#listeners) listener();
  }
}
