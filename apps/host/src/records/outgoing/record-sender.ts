import type { Logger } from 'pino';
import type { CaptureKind } from '@phalanx/protocol';
import type { ServerConnection } from '../../connection/server-connection.ts';
import type { ServiceClock } from '../../connection/service-clock.ts';
import type { CalledPhone } from '../../phones/call-phone.ts';
import type { PhoneWatch } from '../../phones/watch-phones.ts';
import { createPhoneCamera } from '../phone-camera.ts';
import type { RecordLimits } from '../record-limits.ts';
import { RunRecorder } from '../run-recorder.ts';
import { withTimeLimit } from '../../time/time-limit.ts';
import { type CaptureServer, putCapture } from './put-capture.ts';
import { RecordOutbox, type RecordIndex } from './record-outbox.ts';
import { DeliveryQueue } from './delivery-queue.ts';

interface RecordDeliveryOptions extends CaptureServer {
  /** Folder of the records that wait for the server. */
  dir: string;
  phones: PhoneWatch;
  connection: ServerConnection;
  clock: ServiceClock;
  limits: RecordLimits;
  log: Logger;
}

/** All records of this host, from the runs that make them to the server that keeps them. */
export class RecordSender {
  readonly #options: RecordDeliveryOptions;
  readonly #outbox: RecordOutbox;
  readonly #uploader: RecordUploader;
  readonly #budget = { usedBytes: 0 };

  constructor(options: RecordDeliveryOptions) {
    this.#options = options;
    this.#outbox = new RecordOutbox(options);
    this.#uploader = new RecordUploader({ ...options, outbox: this.#outbox });
  }

  /** Takes up the records that an earlier life of the host could not deliver. */
  async recover(): Promise<void> {
    for (const recordId of await this.#outbox.recover()) this.#uploader.add(recordId);
  }

  recorderOf({ runId, ...phone }: CalledPhone & { runId: string }): RunRecorder {
    const { phones, clock, limits, log } = this.#options;
    return new RunRecorder({
      runId,
      camera: createPhoneCamera(phones, phone),
      budget: this.#budget,
      clock,
      limits,
      log,
      put: async (outgoing) => {
        const sizeBytes = await this.#outbox.put(outgoing);
        this.#uploader.add(outgoing.report.record_id);
        return sizeBytes;
      },
    });
  }

  /** The server has the record, and says which captures it lacks. */
  stored(recordId: string, missing: readonly MissingCapture[]): void {
    this.#uploader.stored(recordId, missing);
  }

  /** Records that the server has not taken stay on disk. */
  close(): Promise<void> {
    return this.#uploader.close();
  }
}

/** A capture that the server has not got. */
interface MissingCapture {
  screen_id: string;
  kind: CaptureKind;
}

interface RecordUploaderOptions extends CaptureServer {
  connection: ServerConnection;
  outbox: RecordOutbox;
  limits: Pick<RecordLimits, 'uploadMs' | 'uploadsAtOnce' | 'firstRetryMs' | 'lastRetryMs' | 'answerMs'>;
  log: Logger;
}

/**
 * Brings the records of the outbox to the server: tells it of the record, sends the captures that it names as missing,
 * and forgets the record. Whatever goes wrong begins again with the telling.
 */
class RecordUploader {
  readonly #options: RecordUploaderOptions;
  readonly #queue: DeliveryQueue;
  readonly #answers = new Map<string, (missing: readonly MissingCapture[]) => void>();

  constructor(options: RecordUploaderOptions) {
    this.#options = options;
    const deliver = (recordId: string, signal: AbortSignal): Promise<void> => this.#deliver(recordId, signal);
    this.#queue = new DeliveryQueue({ ...options, what: 'A record', deliver });
  }

  add(recordId: string): void {
    this.#queue.add(recordId);
  }

  /** The server has the record, and says what it lacks. */
  stored(recordId: string, missing: readonly MissingCapture[]): void {
    this.#answers.get(recordId)?.(missing);
  }

  /** Stops the deliveries. Records that are not delivered stay on disk. */
  close(): Promise<void> {
    return this.#queue.close();
  }

  async #deliver(recordId: string, signal: AbortSignal): Promise<void> {
    const record = await this.#read(recordId);
    if (record !== undefined) {
      for (const capture of await this.#tell(record, signal)) await this.#send(record, capture, signal);
    }
    await this.#options.outbox.remove(recordId);
  }

  async #read(recordId: string): Promise<RecordIndex | undefined> {
    const { outbox, log } = this.#options;
    return outbox.folder.read(recordId).catch((error: unknown) => {
      // A record that is gone had to make room for newer ones.
      if (outbox.has(recordId)) log.error({ err: error, recordId }, 'A damaged record was dropped');
      return undefined;
    });
  }

  async #tell({ report }: RecordIndex, signal: AbortSignal): Promise<readonly MissingCapture[]> {
    const { connection, limits } = this.#options;
    const answer = Promise.withResolvers<readonly MissingCapture[]>();
    this.#answers.set(report.record_id, answer.resolve);
    const onTimeout = (): Error => new Error('The server did not say that it has stored the record');
    try {
      connection.send({ type: 'record', record: report });
      return await withTimeLimit(
        { timeoutMs: limits.answerMs, signals: [signal], onTimeout },
        () => answer.promise,
      );
    } finally {
      this.#answers.delete(report.record_id);
    }
  }

  async #send(record: RecordIndex, missing: MissingCapture, signal: AbortSignal): Promise<void> {
    const { outbox, limits, log } = this.#options;
    const address = {
      recordId: record.report.record_id,
      screenId: missing.screen_id,
      kind: missing.kind,
    };
    const body = await outbox.folder.readCapture(record, missing).catch((error: unknown) => {
      log.warn(
        { err: error, ...address },
        'A capture of a record can not be read: the record goes without it',
      );
      return undefined;
    });
    if (body === undefined) return;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limits.uploadMs)]);
    const isTaken = await putCapture(this.#options, address, { body, signal: limit });
    if (!isTaken) log.warn(address, 'The server did not take a capture of a record');
  }
}
