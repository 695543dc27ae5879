import type { Readable } from 'node:stream';
import type { CaptureKind } from '@phalanx/protocol';

/** Names one capture. The IDs are UUIDs in lower case. */
export interface CaptureKey {
  readonly recordId: string;
  readonly screenId: string;
  readonly kind: CaptureKind;
}

/** A body that has arrived whole and that nobody sees yet. One of the two must be called, once. */
export interface ReceivedCapture {
  readonly sizeBytes: number;
  /** Makes it the capture; what was there is replaced at once. It outlives a loss of power. */
  keep(key: CaptureKey): Promise<void>;
  discard(): Promise<void>;
}

export interface StoredCapture {
  readonly sizeBytes: number;
  /** Differs when the content does. */
  readonly version: string;
  /** Both ends inclusive, from 0. The caller reads it to its end or destroys it. */
  read(range?: { first: number; last: number }): Readable;
  /** For a capture that is not read. */
  close(): Promise<void>;
}

/** Where captures are kept: a folder, or a bucket of S3. */
export interface CaptureStore {
  /** Takes in a body to its end. Throws what the body throws, and what the disk says; then nothing is left of it. */
  receive(body: AsyncIterable<Uint8Array>): Promise<ReceivedCapture>;
  find(key: CaptureKey): Promise<StoredCapture | undefined>;
  /** Deletes all captures of a record. Nothing there is a success. */
  deleteRecord(recordId: string): Promise<void>;
  /** IDs of the records that have captures, in one of the parts from 0 to `partCount - 1`. */
  listRecords(part: number): Promise<string[]>;
}

/** Records are spread over so many parts, by the random end of their IDs. */
export const partCount = 256;
