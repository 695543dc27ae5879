import { useEffect, useState, useSyncExternalStore } from 'react';

import { call } from '../api/call.ts';
import { LogBuffer, type LogSnapshot } from './log-buffer.ts';

const pollMs = 700;
const retryMs = 2000;

/** As many lines as the page shows at once, and many more. */
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
