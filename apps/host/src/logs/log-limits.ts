import { getHeapStatistics } from 'node:v8';

/** Limits of the runs' logs that the host keeps and sends at a time. Sizes are bytes of the encoded entries. */
export interface LogLimits {
  /** Maximum of one run, while the server is away; newer entries are dropped and counted. */
  runBytes: number;
  /** Maximum of all runs together, likewise. */
  totalBytes: number;
  /** While the server is connected, a run with more unstored entries than this waits. */
  pressureBytes: number;
  /**
   * Maximum wait of that run, in milliseconds, and ten times as long when `runBytes` are reached: the end of a run that
   * waits can't be seen, so a server that stores nothing must not hold a run for ever.
   */
  pressureMs: number;
  /** Maximum number of frames of one run that were sent and are not known to be stored. */
  framesPerRun: number;
  /** The same for all runs together. */
  framesInTotal: number;
  /** A frame holds more only when its one entry is larger. */
  frameBytes: number;
  /** No frame is sent while more than this waits for the network, so that heartbeats are not held up. */
  socketBytes: number;
  /** A spool file is followed by a new one at this size, so that stored entries can be deleted. */
  segmentBytes: number;
  /** The same for its age, in milliseconds. */
  segmentMs: number;
}

const mebibyte = 1024 * 1024;

/** Buffered entries live in the heap: on a small machine they must leave room for the rest. */
const quarterOfHeapBytes = Math.floor(getHeapStatistics().heap_size_limit / 4);

export const defaultLogLimits: Readonly<LogLimits> = Object.freeze({
  runBytes: 16 * mebibyte,
  totalBytes: Math.min(512 * mebibyte, quarterOfHeapBytes),
  pressureBytes: mebibyte,
  pressureMs: 1000,
  framesPerRun: 4,
  framesInTotal: 64,
  frameBytes: mebibyte / 4,
  socketBytes: mebibyte,
  segmentBytes: mebibyte,
  segmentMs: 60_000,
});

/** Memory of the logs of all runs together, in bytes. */
export interface LogBudget {
  usedBytes: number;
}
