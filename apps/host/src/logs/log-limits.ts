import { getHeapStatistics } from 'node:v8';

/** Limits of the run logs that the host buffers and sends. Sizes are bytes of the encoded entries. */
export interface LogLimits {
  /** Maximum buffer of one run while the server is unreachable. Newer entries are dropped and counted. */
  runBytes: number;
  /** Maximum buffer of all runs together while the server is unreachable. Newer entries are dropped and counted. */
  totalBytes: number;
  /** Number of unstored bytes above which a run has to wait while the server is connected. */
  pressureBytes: number;
  /**
   * Maximum wait of a run above `pressureBytes`, in milliseconds; ten times as long once `runBytes` are reached. A
   * waiting run can't report its end, so a server that stores nothing must not block a run forever.
   */
  pressureMs: number;
  /** Maximum number of unacknowledged frames of one run. */
  framesPerRun: number;
  /** Maximum number of unacknowledged frames of all runs together. */
  framesInTotal: number;
  /** Maximum size of a frame. Only a frame with a single larger entry exceeds it. */
  frameBytes: number;
  /** Number of bytes waiting for the network above which no frame is sent, so that heartbeats are not delayed. */
  socketBytes: number;
  /** Maximum size of the entries of a run that are written to disk together. */
  chunkBytes: number;
  /** Pause before the disk is tried again after a failure, in milliseconds. */
  diskRetryMs: number;
}

const mebibyte = 1024 * 1024;

/** Buffered entries live in the heap. On a small machine they must leave room for everything else. */
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
  chunkBytes: mebibyte,
  diskRetryMs: 1000,
});

/** Memory that the logs of all runs use together, in bytes. */
export interface LogBudget {
  usedBytes: number;
}
