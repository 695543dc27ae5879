const [second, minute, hour] = [1000, 60_000, 60 * 60_000];

/** Of Standard Webhooks: over three days. */
const pausesMs = [
  ...[5 * second, 5 * minute, 30 * minute],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour),
];
export const mostAttempts = pausesMs.length + 1;

/** So that what failed together is not tried again together. */
const jitter = 0.1;
/** A receiver may ask for a longer pause than ours, but not for longer than this. */
const longestAskedMs = 24 * hour;

/** How long to wait after so many attempts; undefined: no more are made. `asked`: what the receiver asks for. */
export function pauseAfter(attempts: number, asked = 0, random = Math.random()): number | undefined {
  const pause = pausesMs[attempts - 1];
  if (pause === undefined) return undefined;
  const spread = Math.round(pause * (1 - jitter + 2 * jitter * random));
  return Math.max(spread, Math.min(asked, longestAskedMs));
}

/** What `Retry-After` asks for: seconds, or a date (RFC 9110, section 10.2.3). 0: nothing that can be read. */
export function readRetryAfter(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  if (/^\d{1,9}$/.test(text)) return Number(text) * second;
  const time = Date.parse(text);
  return Number.isNaN(time) ? 0 : Math.max(0, time - now);
}
