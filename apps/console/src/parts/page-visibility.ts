import { pause } from '@phalanx/timing/pause';

/** Returns a signal that aborts when the page is hidden, unless `signal` has aborted before. */
export function whenHidden(signal: AbortSignal): AbortSignal {
  const hidden = new AbortController();
  const look = (): void => {
    if (document.hidden) hidden.abort();
  };
  document.addEventListener('visibilitychange', look, { signal: AbortSignal.any([signal, hidden.signal]) });
  return hidden.signal;
}

/** Resolves when the page is visible or `signal` aborts. */
export async function whenSeen(signal: AbortSignal): Promise<void> {
  if (!document.hidden || signal.aborted) return;
  const ended = new AbortController();
  await new Promise((resolve) => {
    document.addEventListener('visibilitychange', resolve, { signal: ended.signal });
    signal.addEventListener('abort', resolve, { signal: ended.signal });
  });
  ended.abort();
}

/** Waits for a time, and longer while the page is hidden. Resolves early when `signal` aborts. */
export async function pauseWhileSeen(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, signal).catch(() => undefined);
  await whenSeen(signal);
}
