import { keptDebugRecords } from '@phalanx/protocol';

/** Limits on the costs of records. */
export interface RecordLimits {
  /** Maximum memory for pictures and packed trees of one run, in bytes. The oldest pictures are dropped first. */
  runMemoryBytes: number;
  /** Maximum memory for pictures and packed trees of all runs together, in bytes. */
  totalMemoryBytes: number;
  /** Quota of records that one run may submit. The host's record of a failed run does not count. */
  runRecords: RateLimit;
  /** Quota of the submitted records of one run on disk, in bytes. */
  runDiskBytes: RateLimit;
  /** Maximum size of all records that wait on disk for the server, in bytes. The oldest is dropped first. */
  totalDiskBytes: number;
  /** Maximum number of records that wait on disk for the server. The oldest is dropped first. */
  totalRecords: number;
  /** Timeout of a picture of a stored screen, in milliseconds. */
  pictureMs: number;
  /** Maximum wait of a submit for pictures in progress, in milliseconds. */
  settleMs: number;
  /** Maximum delay of a run's end for a last look at the screen, in milliseconds. */
  lastLookMs: number;
  /** Timeout of reading the facts of an app from the phone, in milliseconds. */
  appMs: number;
  /** Timeout of one upload of a capture, in milliseconds. */
  uploadMs: number;
  /** Maximum number of concurrent uploads of records. */
  uploadsAtOnce: number;
  /** Backoff between failed attempts to send a record, from the first to the last wait, in milliseconds. */
  firstRetryMs: number;
  lastRetryMs: number;
  /** Timeout for the server to acknowledge a record, in milliseconds. */
  answerMs: number;
}

const mebibyte = 1024 * 1024;

export const defaultRecordLimits: Readonly<RecordLimits> = Object.freeze({
  runMemoryBytes: 16 * mebibyte,
  totalMemoryBytes: 256 * mebibyte,
  runRecords: { atOnce: keptDebugRecords, perMinute: 1 },
  runDiskBytes: { atOnce: 64 * mebibyte, perMinute: mebibyte },
  totalDiskBytes: 1024 * mebibyte,
  totalRecords: 10_000,
  pictureMs: 5000,
  settleMs: 3000,
  lastLookMs: 2000,
  appMs: 1500,
  uploadMs: 60_000,
  uploadsAtOnce: 4,
  firstRetryMs: 1000,
  lastRetryMs: 60_000,
  answerMs: 30_000,
});

/** Burst and refill per minute: a run that lasts for days needs a rate instead of a total. */
export interface RateLimit {
  atOnce: number;
  perMinute: number;
}
