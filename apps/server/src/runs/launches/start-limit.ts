/** A host starts few sandbox processes at a time, each of which takes some seconds of a slow machine. */
const sharePerRun = 0.15;
/** Callers and proxies give up on a request that takes longer than a minute: 10 s are at most 55 s. */
const maxShare = 5.5;

/**
 * How long the runs of a launch on one host have to begin: `ackTimeoutMs` for the first, and longer the more of them wait for their turn
 * there.
 */
export const startLimitMs = (runs: number, ackTimeoutMs: number): number =>
  Math.round(ackTimeoutMs * Math.min(maxShare, 1 + sharePerRun * (runs - 1)));
