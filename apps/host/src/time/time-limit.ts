export interface TimeLimit {
  timeoutMs: number;
  /** Signals that end the work early, with their reason. */
  signals?: readonly (AbortSignal | undefined)[];
  /** Returns the error that callers get on a timeout. */
  onTimeout: () => Error;
}

/**
 * Runs `work` with a timeout. Rejects at the timeout even when `work` ignores its signal, because a hung phone answers
 * nothing; a later result of `work` is ignored.
 */
export async function withTimeLimit<T>(
  { timeoutMs, signals = [], onTimeout }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  for (const signal of signals) signal?.throwIfAborted();
  const controller = new AbortController();
  const over = Promise.withResolvers<never>();
  const end = (reason: unknown): void => {
    controller.abort(reason);
    over.reject(reason);
  };
  const unfollow = signals.map((signal) => whenAborted(signal, end));
  const timer = setTimeout(() => end(onTimeout()), timeoutMs);
  try {
    return await Promise.race([work(controller.signal), over.promise]);
  } finally {
    clearTimeout(timer);
    for (const stop of unfollow) stop();
  }
}

/** Settles as `work` does, or rejects with the signal's reason as soon as the signal aborts. */
export async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(), aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Aborts `controller` when `signal` aborts. Returns a function that stops following, so that long-lived signals keep no
 * listeners.
 */
export function follow(signal: AbortSignal | undefined, controller: AbortController): () => void {
  if (signal?.aborted === true) controller.abort(signal.reason);
  return whenAborted(signal, (reason) => controller.abort(reason));
}

function whenAborted(signal: AbortSignal | undefined, then: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => {};
  const onAbort = (): void => then(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}

/** Waits. An abort ends the wait early, without an error. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const onAbort = (): void => resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
}

/** Resolves when the first of the signals aborts. */
export function anyAborted(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const onAbort = (): void => {
      for (const signal of signals) signal.removeEventListener('abort', onAbort);
      resolve();
    };
    for (const signal of signals) signal.addEventListener('abort', onAbort);
    if (signals.some((signal) => signal.aborted)) onAbort();
  });
}
