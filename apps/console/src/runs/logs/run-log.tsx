import { useEffect, useState, useSyncExternalStore } from 'react';
import type { LogEntry, RunDetail } from '@phalanx/protocol';

import { call } from '../../api/call.ts';
import { clockTime, exactDuration } from '../../parts/time.tsx';
import { Button } from '../../parts/button.tsx';
import { notifyFailure } from '../../parts/notices.tsx';

const pollMs = 700;
const retryMs = 2000;

/** Number of lines at the end that are read first; far more than the page shows at once. */
const endLines = 500;

/** A log is looked at from its end, which is there before the rest is read. */
async function showEnd(runId: string, buffer: LogBuffer, signal: AbortSignal): Promise<void> {
  const input = { params: { id: runId }, query: { last: endLines } };
  const { logs } = await call('GET /api/v2/runs/:id/logs', input, { signal });
  // A short log is read as a whole right away.
  if (logs.length === endLines) buffer.showEnd(logs);
}

/** Reads a log from its beginning and follows it while the run lasts and the page can be seen. */
async function follow(
  runId: string,
  buffer: LogBuffer,
  isOver: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  let from: string | undefined;
  await showEnd(runId, buffer, signal).catch(() => undefined);
  while (!signal.aborted) {
    // Before the log is read: what the run writes last comes after this and is read all the same.
    const wasOver = isOver();
    let hasMore = false;
    try {
      const query = from === undefined ? {} : { from };
      const reply = await call('GET /api/v2/runs/:id/logs', { params: { id: runId }, query }, { signal });
      if (reply.logs.length > 0) buffer.add(reply.logs);
      from = reply.logs.at(-1)?.id ?? reply.next_cursor ?? from;
      hasMore = reply.next_cursor !== null;
      buffer.note({ error: null, isLoaded: !hasMore, isTruncated: reply.truncated });
      if (wasOver && !hasMore) return;
    } catch (error) {
      if (signal.aborted) return;
      buffer.note({ error, isLoaded: true });
      await pause(retryMs, signal);
    }
    if (!hasMore) await pause(pollMs, signal);
  }
}

/** A hidden page waits until it is seen again. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', resolve, { once: true });
  });
  if (document.hidden && !signal.aborted)
    await new Promise((resolve) => {
      document.addEventListener('visibilitychange', resolve, { once: true });
      signal.addEventListener('abort', resolve, { once: true });
    });
}

/** The log of a run, kept or live. */
export function useRunLog(runId: string, isActive: boolean): LogSnapshot {
  const [state] = useState(() => ({ isActive }));
  const [buffer, setBuffer] = useState(() => new LogBuffer());
  useEffect(() => {
    state.isActive = isActive;
  });
  useEffect(() => {
    const fresh = new LogBuffer();
    setBuffer(fresh);
    const abort = new AbortController();
    void follow(runId, fresh, () => !state.isActive, abort.signal);
    return () => abort.abort();
  }, [runId, state]);
  return useSyncExternalStore(buffer.subscribe, buffer.get);
}

/** The most lines that a page holds. */
const maxLines = 50_000;

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
class LogBuffer {
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
    const excess = Math.max(0, all.length - maxLines);
    this.#read = excess === 0 ? all : all.slice(excess);
    const entries = this.#end ?? this.#read;
    this.#set({ ...this.#snapshot, entries, dropped: this.#snapshot.dropped + excess });
  }

  #set(snapshot: LogSnapshot): void {
    this.#snapshot = snapshot;
    for (const listener of this.#listeners) listener();
  }
}

/** An entry as a line of text. */
export const textOfEntry = ({ timestamp, path, lineNumber, messageLevel, message }: LogEntry): string =>
  `${new Date(timestamp).toISOString()} ${messageLevel} ${path ?? ''}:${lineNumber} ${message}`;

/** The time of an entry, or how long after `above` it came, such as `+35 ms`. */
export function timeText({ timestamp }: LogEntry, above: LogEntry | undefined): string {
  if (above === undefined) return clockTime(timestamp);
  const gap = Math.max(0, timestamp - above.timestamp);
  return `+${gap < 1000 ? `${gap} ms` : exactDuration(gap)}`;
}

/** Saves the whole log of a run as a text file, also what the page does not hold. */
export function DownloadLog({ run }: { run: Pick<RunDetail, 'run_id'> }) {
  const [isBusy, setBusy] = useState(false);
  const download = async (): Promise<void> => {
    setBusy(true);
    try {
      save(`${run.run_id}.log`, await readWhole(run.run_id));
    } catch (error) {
      notifyFailure('The log was not downloaded', error);
    }
    setBusy(false);
  };
  return (
    <Button isBusy={isBusy} onClick={() => void download()}>
      Download log
    </Button>
  );
}

async function readWhole(runId: string): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (let from: string | null | undefined; from !== null;) {
    const query: { from?: string } = from === undefined ? {} : { from };
    const page: { logs: LogEntry[]; next_cursor: string | null } = await call('GET /api/v2/runs/:id/logs', {
      params: { id: runId },
      query,
    });
    entries.push(...page.logs);
    from = page.next_cursor;
  }
  return entries;
}

function save(name: string, entries: readonly LogEntry[]): void {
  const text = entries.map((entry) => `${textOfEntry(entry)}\n`).join('');
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
