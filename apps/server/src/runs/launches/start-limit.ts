/**
 * Share of the time limit that each further run adds: a host starts few sandbox processes at a time, each of which
 * takes some seconds of a slow machine.
 */
const sharePerRun = 0.15;
/**
 * Maximum share: callers and proxies give up on a request that takes longer than a minute. 10 s become at most 55 s.
 */
const maxShare = 5.5;

/**
 * Time that the runs of a launch on one host have to begin: `ackTimeoutMs` for the first, and more the more runs wait
 * for their turn there.
 */
export const startLimitMs = (runs: number, ackTimeoutMs: number): number =>
  Math.round(ackTimeoutMs * Math.min(maxShare, 1 + sharePerRun * (runs - 1)));
