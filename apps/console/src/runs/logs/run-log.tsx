import { followRuns } from '@phalanx/client/follow-runs';
import type { RunUpdate } from '@phalanx/client/run-update';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { LogEntry, RunDetail } from '@phalanx/protocol';

import { call, readAll, runReader } from '../../api/call.ts';
import { clockTime, exactDuration } from '../../parts/time.tsx';
import { Button } from '../../parts/button.tsx';
import { notifyFailure } from '../../parts/notices.tsx';

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
async function follow(runId: string, buffer: LogBuffer, signal: AbortSignal): Promise<void> {
  await showEnd(runId, buffer, signal).catch(() => undefined);
  for (let from: string | undefined; !signal.aborted;) {
    await whenSeen(signal);
    const whileSeen = AbortSignal.any([signal, whenHidden(signal)]);
    try {
      for await (const update of followRuns(runReader, { runIds: [runId], from, signal: whileSeen })) {
        if (update.type === 'log') {
          buffer.add(update.logs);
          from = update.logs.at(-1)?.id;
        }
        buffer.note(noteOf(update));
      }
      return;
    } catch (error) {
      if (whileSeen.aborted) continue;
      buffer.note({ error, isLoaded: true });
      await pause(retryMs, signal);
    }
  }
}

function noteOf(update: RunUpdate): Partial<LogSnapshot> {
  if (update.type === 'away') return { error: update.error, isLoaded: true };
  if (update.type === 'log') return update.isTruncated ? { isTruncated: true } : {};
  return { error: null, isLoaded: true };
}

/** Aborted when the page is hidden, unless `signal` is aborted before. */
function whenHidden(signal: AbortSignal): AbortSignal {
  const hidden = new AbortController();
  const look = (): void => {
    if (document.hidden) hidden.abort();
  };
  document.addEventListener('visibilitychange', look, { signal: AbortSignal.any([signal, hidden.signal]) });
  return hidden.signal;
}

async function whenSeen(signal: AbortSignal): Promise<void> {
  if (!document.hidden || signal.aborted) return;
  await new Promise((resolve) => {
    document.addEventListener('visibilitychange', resolve, { once: true });
    signal.addEventListener('abort', resolve, { once: true });
  });
}

/** A hidden page waits until it is seen again. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', resolve, { once: true });
  });
  await whenSeen(signal);
}

/** The log of a run, kept or live. */
export function useRunLog(runId: string): LogSnapshot {
  const [buffer, setBuffer] = useState(() => new LogBuffer());
  useEffect(() => {
    const fresh = new LogBuffer();
    setBuffer(fresh);
    const abort = new AbortController();
    void follow(runId, fresh, abort.signal);
    return () => abort.abort();
  }, [runId]);
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

const readWhole = (runId: string): Promise<LogEntry[]> =>
  readAll(async (from) => {
    const input = { params: { id: runId }, query: from === undefined ? {} : { from } };
    const { logs, next_cursor: next } = await call('GET /api/v2/runs/:id/logs', input);
    return { rows: logs, next };
  });

function save(name: string, entries: readonly LogEntry[]): void {
  const text = entries.map((entry) => `${textOfEntry(entry)}\n`).join('');
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
