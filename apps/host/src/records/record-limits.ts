import { keptDebugRecords } from '@phalanx/protocol';

/** Limits of the costs of records. */
export interface RecordLimits {
  /** Pictures and packed trees of one run in memory, in bytes; the oldest pictures go first. */
  runMemoryBytes: number;
  /** The same of all runs together. */
  totalMemoryBytes: number;
  /** Records that one run may submit. The one that the host makes of a bad end is not counted. */
  runRecords: RateLimit;
  /** Quota of the submitted records of one run on disk, in bytes. */
  runDiskBytes: RateLimit;
  /** All records that wait on disk for the server, in bytes; the oldest is dropped first. */
  totalDiskBytes: number;
  /** Maximum number of records that wait there, likewise. */
  totalRecords: number;
  /** Timeout of a picture of a stored screen, in milliseconds. */
  pictureMs: number;
  /** Maximum wait of a submit for pictures that are under way, in milliseconds. */
  settleMs: number;
  /** Maximum wait of a run's end for a last look at the screen, in milliseconds. */
  lastLookMs: number;
  /** Maximum time for the phone to say which app it is, in milliseconds. */
  appMs: number;
  /** Timeout of one upload of a capture, in milliseconds. */
  uploadMs: number;
  /** Maximum number of records that are sent at a time. */
  uploadsAtOnce: number;
  /** Backoff between failed attempts to send a record, from the first to the last wait, in milliseconds. */
  firstRetryMs: number;
  lastRetryMs: number;
  /** Timeout of the server to say that it has stored a record, in milliseconds. */
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

/** Burst, and refill a minute: a run that lasts for days needs a rate, not a total. */
export interface RateLimit {
  atOnce: number;
  perMinute: number;
}
