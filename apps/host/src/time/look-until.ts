import { pause } from './time-limit.ts';

interface Looks<Seen> {
  readonly fits: (seen: Seen) => boolean;
  /** End of the attempts, on the clock of `performance.now()`. At least one attempt is made. */
  readonly until: number;
  /** Pause between two attempts, in milliseconds. */
  readonly pauseMs: number;
  readonly signal: AbortSignal;
}

/** Returns the first result that fits, else the last one before the time is over. */
export async function lookUntil<Seen>(
  look: () => Promise<Seen>,
  { fits, until, pauseMs, signal }: Looks<Seen>,
): Promise<Seen> {
  for (;;) {
    const seen = await look();
    if (fits(seen) || performance.now() >= until) return seen;
    await pause(pauseMs, signal);
    signal.throwIfAborted();
  }
}
