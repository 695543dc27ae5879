import { withJitter } from '@phalanx/timing/backoff';
import { secondMs, minuteMs, hourMs, dayMs } from '@phalanx/timing/durations';

/** Backoff of Standard Webhooks: retries over three days. */
const pausesMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  dayMs,
];
export const maxAttempts = pausesMs.length + 1;

const jitter = 0.1;
/** Maximum pause that a receiver may request. It applies when it is longer than ours. */
const maxRequestedMs = dayMs;

/**
 * Returns the backoff in ms before the next retry after `attempts` attempts, or undefined when no more are made.
 * `asked` is the pause that the receiver requests, ms.
 */
export function pauseAfter(attempts: number, asked = 0, random?: number): number | undefined {
  const pause = pausesMs[attempts - 1];
  if (pause === undefined) return undefined;
  return Math.max(withJitter(pause, jitter, random), Math.min(asked, maxRequestedMs));
}

/**
 * Reads the pause in `Retry-After`, ms: seconds, or a date (RFC 9110, section 10.2.3). Returns 0 when it is missing or
 * unreadable.
 */
export function readRetryAfter(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  if (/^\d{1,9}$/.test(text)) return Number(text) * secondMs;
  const time = Date.parse(text);
  return Number.isNaN(time) ? 0 : Math.max(0, time - now);
}
