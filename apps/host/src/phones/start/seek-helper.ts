import type { UiBackend } from '../../driver/ui-backend.ts';
import { createBackoff } from '../../time/backoff.ts';
import { follow, pause } from '../../time/time-limit.ts';
import { type BackendStart, startHelperOnce } from './start-backend.ts';
import type { StartQueue } from './start-queue.ts';

export interface HelperSeeker {
  /** Aborted when the helper runs: the slower way has done its part. */
  readonly found: AbortSignal;
  /** The helper that was found; it belongs to the caller from then on. */
  backend(): UiBackend | undefined;
  /** Ends the search; a helper that comes after it is stopped again. */
  stop(): void;
}

export interface Seeking extends BackendStart {
  readonly firstMs: number;
  readonly starts: StartQueue;
  readonly isBusy: () => boolean;
}

/** Tries the helper again while nobody uses the phone: what kept it away, such as a switch or a full disk, may be mended. */
export function seekHelper({ firstMs, starts, isBusy, ...start }: Seeking): HelperSeeker {
  const found = new AbortController();
  const stopped = new AbortController();
  const unfollow = follow(start.signal, stopped);
  let backend: UiBackend | undefined;
  const backoff = createBackoff({ firstMs, lastMs: firstMs * 10 });
  const seek = async (): Promise<void> => {
    while (!stopped.signal.aborted && backend === undefined) {
      await pause(backoff.nextMs(), stopped.signal);
      if (stopped.signal.aborted || isBusy()) continue;
      const request = { signal: stopped.signal, rank: 'unknown' as const, onWait: () => {} };
      const one = await starts
        .run(request, (turn) =>
          startHelperOnce({ ...start, signal: stopped.signal, onLaunched: () => turn.end() }, 'uiautomator2'),
        )
        .catch(() => undefined);
      if (stopped.signal.aborted) one?.close();
      else backend = one;
    }
    if (backend !== undefined) found.abort();
  };
  void seek();
  return {
    found: found.signal,
    backend: () => backend,
    stop: () => {
      unfollow();
      stopped.abort(new Error('The search for the UI helper was ended'));
    },
  };
}
