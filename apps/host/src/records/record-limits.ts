import { keptDebugRecords } from '@phalanx/protocol';

/** What records may cost. */
export interface RecordLimits {
  /** Pictures and packed trees of one run in memory, in bytes; the oldest pictures go first. */
  runMemoryBytes: number;
  /** The same of all runs together. */
  totalMemoryBytes: number;
  /** Records that one run may submit. The one that the host makes of a bad end is not counted. */
  runRecords: RateLimit;
  /** What the submitted records of one run may take on disk, in bytes. */
  runDiskBytes: RateLimit;
  /** All records that wait on disk for the server, in bytes; the oldest is dropped first. */
  totalDiskBytes: number;
  /** How many may wait there, likewise. */
  totalRecords: number;
  /** A picture of a stored screen may take so long, in milliseconds. */
  pictureMs: number;
  /** So long a submit waits for pictures that are under way, in milliseconds. */
  settleMs: number;
  /** So long the end of a run waits for a last look at the screen, in milliseconds. */
  lastLookMs: number;
  /** So long the phone may take to say which app it is, in milliseconds. */
  appMs: number;
  /** One upload of a capture, in milliseconds. */
  uploadMs: number;
  /** Records that are sent at a time. */
  uploadsAtOnce: number;
  /** The waits between failed attempts to send a record go from the first to the last, in milliseconds. */
  firstRetryMs: number;
  lastRetryMs: number;
  /** The server has so long to say that it has stored a record, in milliseconds. */
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

/** So much at once, and so much more each minute: what lasts for days needs a rate, not a total. */
export interface RateLimit {
  atOnce: number;
  perMinute: number;
}
