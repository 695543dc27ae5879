import { followRuns } from '@phalanx/client/follow-runs';
import type { RunUpdate } from '@phalanx/client/run-update';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { LogEntry, RunDetail } from '@phalanx/protocol';

import { readAll } from '@phalanx/client/read-all';
import { call, runReader } from '../../api/call.ts';
import { pauseWhileSeen, whenHidden, whenSeen } from '../../parts/page-visibility.ts';
import { clockTime, exactDuration } from '../../parts/time.tsx';
import { Button } from '../../parts/button.tsx';
import { notifyFailure } from '../../parts/notices.tsx';

const retryMs = 2000;

/** Number of lines at the end that are read first; far more than the page shows at once. */
const endLines = 500;

/** Shows the end of the log, where reading starts, before the rest is loaded. */
async function showEnd(runId: string, buffer: LogBuffer, signal: AbortSignal): Promise<void> {
  const input = { params: { id: runId }, query: { last: endLines } };
  const { logs } = await call('GET /api/v2/runs/:id/logs', input, { signal });
  // A short log is read in full right away.
  if (logs.length === endLines) buffer.showEnd(logs);
}

/** Reads a log from the beginning and follows it while the run is active and the page is visible. */
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
      await pauseWhileSeen(retryMs, signal);
    }
  }
}

function noteOf(update: RunUpdate): Partial<LogSnapshot> {
  if (update.type === 'away') return { error: update.error, isLoaded: true };
  if (update.type === 'log') return update.isTruncated ? { isTruncated: true } : {};
  return { error: null, isLoaded: true };
}

/** Returns the log of a run, stored or live. */
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

/** Maximum number of lines that the page holds. */
const maxLines = 50_000;

export interface LogSnapshot {
  readonly entries: readonly LogEntry[];
  /** Number of lines dropped in favor of newer ones. */
  readonly dropped: number;
  readonly error: unknown;
  readonly isLoaded: boolean;
  /** Whether the service dropped lines in the middle. */
  readonly isTruncated: boolean;
}

const nothing: LogSnapshot = { entries: [], dropped: 0, error: null, isLoaded: false, isTruncated: false };

/** Minimum time between two renders of new lines, in milliseconds: each one lays out the end of the log. */
const renderMs = 100;

/** Lines of a log read so far. A single line is shown in the next frame; many lines are shown together. */
class LogBuffer {
  #snapshot = nothing;
  #pending: LogEntry[] = [];
  #isDue = false;
  #renderedAt = -Infinity;
  readonly #listeners = new Set<() => void>();
  /** End of the log, shown until everything before it has been read. */
  #end: readonly LogEntry[] | undefined;
  #read: readonly LogEntry[] = [];

  readonly get = (): LogSnapshot => this.#snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Shows the last entries of a log whose beginning is still to be read. */
  showEnd(entries: readonly LogEntry[]): void {
    this.#end = entries;
    this.#set({ ...this.#snapshot, entries });
  }

  add(entries: readonly LogEntry[]): void {
    this.#pending.push(...entries);
    if (this.#isDue) return;
    this.#isDue = true;
    const waitMs = this.#renderedAt + renderMs - performance.now();
    const flush = (): void => void requestAnimationFrame(() => this.#flush());
    if (waitMs > 0) setTimeout(flush, waitMs);
    else flush();
  }

  note(change: Partial<Pick<LogSnapshot, 'error' | 'isLoaded' | 'isTruncated'>>): void {
    const next = { ...this.#snapshot, ...change };
    const isNew =
      next.error !== this.#snapshot.error ||
      next.isLoaded !== this.#snapshot.isLoaded ||
      next.isTruncated !== this.#snapshot.isTruncated;
    if (isNew) this.#set(next);
    if (change.isLoaded !== true || this.#end === undefined) return;
    this.#end = undefined;
    this.#flush();
  }

  #flush(): void {
    this.#isDue = false;
    this.#renderedAt = performance.now();
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

/** Formats an entry as a line of text. */
export const textOfEntry = ({ timestamp, path, lineNumber, messageLevel, message }: LogEntry): string =>
  `${new Date(timestamp).toISOString()} ${messageLevel} ${path ?? ''}:${lineNumber} ${message}`;

/** Formats the time of an entry, or its distance from `above`, such as `+35 ms`. */
export function timeText({ timestamp }: LogEntry, above: LogEntry | undefined): string {
  if (above === undefined) return clockTime(timestamp);
  const gap = Math.max(0, timestamp - above.timestamp);
  return `+${gap < 1000 ? `${gap} ms` : exactDuration(gap)}`;
}

/** Button that saves the full log of a run as a text file, including lines that the page dropped. */
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
  readAll(
    ({ cursor }) =>
      call('GET /api/v2/runs/:id/logs', {
        params: { id: runId },
        query: cursor === undefined ? {} : { from: cursor },
      }),
    ({ logs }) => logs,
  );

function save(name: string, entries: readonly LogEntry[]): void {
  const text = entries.map((entry) => `${textOfEntry(entry)}\n`).join('');
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
