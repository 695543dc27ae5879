/**
 * Share of the start timeout that each further run adds: a host starts few sandbox processes at a time, and each takes
 * some seconds on a slow machine.
 */
const sharePerRun = 0.15;
/**
 * Maximum factor of the start timeout: callers and proxies give up on requests that take longer than a minute. A
 * timeout of 10 s grows to at most 55 s.
 */
const maxShare = 5.5;

/**
 * Returns the start timeout for the runs of a launch on one host, in ms: `ackTimeoutMs` for one run, and more the more
 * runs queue there.
 */
export const startLimitMs = (runs: number, ackTimeoutMs: number): number =>
  Math.round(ackTimeoutMs * Math.min(maxShare, 1 + sharePerRun * (runs - 1)));
