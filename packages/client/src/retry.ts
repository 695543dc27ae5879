import { Backoff } from '@phalanx/timing/backoff';
import { pause } from '@phalanx/timing/pause';
import { NotTheService, ServiceError, ServiceUnreachable } from './service-errors.ts';

/** Statuses of failures that a retry does not fix: a bug, and a full disk, which a person has to clear. */
const lastingStatuses: readonly number[] = [500, 507];

/** Whether the failure is temporary, so that a retry may succeed by itself. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ServiceUnreachable) return true;
  if (error instanceof NotTheService) return error.status >= 500;
  if (!(error instanceof ServiceError)) return false;
  return error.status === 429 || (error.status >= 500 && !lastingStatuses.includes(error.status));
}

/** Codes of refusals before anything was executed. */
const undoneCodes: readonly string[] = ['too_busy', 'not_ready'];

const pauses = { firstMs: 250, maxMs: 5000, jitter: 0.1 };

interface Repeatable {
  /** Whether the service executes the request once however often it is sent. */
  readonly isIdempotent: boolean;
  /** Time for retries from the first attempt on, in milliseconds. */
  readonly forMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Retries a request until it succeeds, fails permanently, or the time is over. Throws the last failure. */
export async function retried<Result>(
  send: () => Promise<Result>,
  { isIdempotent, forMs, signal }: Repeatable,
): Promise<Result> {
  const until = Date.now() + forMs;
  const backoff = new Backoff(pauses);
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!mayRepeat(error, isIdempotent)) throw error;
      const waitMs = requestedPause(error) ?? backoff.nextMs();
      if (Date.now() + waitMs > until) throw error;
      await pause(waitMs, signal);
    }
  }
}

function mayRepeat(error: unknown, isIdempotent: boolean): boolean {
  // Streams stay open for as long as their readers want, so a retry would not help.
  if (error instanceof ServiceError && error.code === 'too_many_streams') return false;
  const isUndone =
    error instanceof ServiceError && (error.status === 429 || undoneCodes.includes(error.code));
  return isPassing(error) && (isUndone || isIdempotent);
}

/**
 * Returns the pause that the service asks for, in milliseconds, a little longer at random, so that refused callers do not
 * return together. Undefined without such a request.
 */
function requestedPause(error: unknown): number | undefined {
  if (!(error instanceof ServiceError) || error.retryAfterMs === undefined) return undefined;
  return error.retryAfterMs * (1 + Math.random() / 5);
}

/** Interval in milliseconds between attempts of a caller that waits for the service without a time limit. */
export const awayPauseMs = 500;

/** Retries until the service answers. Throws permanent failures, and the reason of an aborted signal. */
export async function untilAnswered<Result>(
  ask: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal?.aborted === true || !isPassing(error)) throw error;
      await pause(awayPauseMs, signal);
    }
  }
}
