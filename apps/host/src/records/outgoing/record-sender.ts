import type { Logger } from 'pino';
import type { ApiClient } from '@phalanx/client/api-client';
import { recordRoutes, type CaptureKind } from '@phalanx/protocol';
import type { ServerConnection } from '../../connection/server-connection.ts';
import type { ServiceClock } from '../../connection/service-clock.ts';
import type { CalledPhone } from '../../phones/call-phone.ts';
import type { PhoneWatch } from '../../phones/watch-phones.ts';
import { createPhoneCamera } from '../phone-camera.ts';
import type { RecordLimits } from '../record-limits.ts';
import { RunRecorder } from '../run-recorder.ts';
import type { HostStore } from '../../store/host-store.ts';
import { withTimeLimit } from '../../time/time-limit.ts';
import { upload } from './upload.ts';
import { RecordOutbox, type RecordIndex } from './record-outbox.ts';
import { DeliveryQueue } from './delivery-queue.ts';

interface RecordDeliveryOptions {
  server: ApiClient;
  store: HostStore;
  /** Folder of the captures of the records that wait for the server. */
  dir: string;
  phones: PhoneWatch;
  connection: ServerConnection;
  clock: ServiceClock;
  limits: RecordLimits;
  log: Logger;
}

/** Delivers all records of this host, from the runs that make them to the server that stores them. */
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

  /** Recovers the records that an earlier process of the host could not deliver. */
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

  /** Handles the server's message that it has stored the record and lacks these captures. */
  stored(recordId: string, missing: readonly MissingCapture[]): void {
    this.#uploader.stored(recordId, missing);
  }

  /** Stops the uploads. Records that the server has not accepted stay on disk. */
  close(): Promise<void> {
    return this.#uploader.close();
  }
}

const contentTypes: Readonly<Record<CaptureKind, string>> = {
  tree: 'application/json',
  screenshot: 'image/jpeg',
};

/** Capture that the server lacks. */
interface MissingCapture {
  screen_id: string;
  kind: CaptureKind;
}

interface RecordUploaderOptions {
  server: ApiClient;
  connection: ServerConnection;
  outbox: RecordOutbox;
  limits: Pick<RecordLimits, 'uploadMs' | 'uploadsAtOnce' | 'firstRetryMs' | 'lastRetryMs' | 'answerMs'>;
  log: Logger;
}

/**
 * Uploads the records of the outbox: sends the record, then the captures that the server names as missing, and removes
 * the record. A retry starts again with the record.
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

  /** Passes on the server's message that it has stored the record and lacks these captures. */
  stored(recordId: string, missing: readonly MissingCapture[]): void {
    this.#answers.get(recordId)?.(missing);
  }

  /** Stops the deliveries. Records that are not delivered stay on disk. */
  close(): Promise<void> {
    return this.#queue.close();
  }

  async #deliver(recordId: string, signal: AbortSignal): Promise<void> {
    const record = await this.#options.outbox.read(recordId);
    if (record !== undefined) {
      for (const capture of await this.#tell(record, signal)) await this.#send(record, capture, signal);
    }
    await this.#options.outbox.remove(recordId);
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
    const { server, outbox, limits, log } = this.#options;
    const address = {
      recordId: record.report.record_id,
      screenId: missing.screen_id,
      kind: missing.kind,
    };
    const body = await outbox.readCapture(record, missing).catch((error: unknown) => {
      log.warn(
        { err: error, ...address },
        'A capture of a record can not be read: the record goes without it',
      );
      return undefined;
    });
    if (body === undefined) return;
    const isTaken = await upload(server, {
      endpoint: recordRoutes.putCapture,
      inputs: {
        params: { record_id: address.recordId, screen_id: address.screenId, kind: address.kind },
        headers: { 'content-type': contentTypes[address.kind] },
        body: new Uint8Array(body),
      },
      timeoutMs: limits.uploadMs,
      signal,
    });
    if (!isTaken) log.warn(address, 'The server did not take a capture of a record');
  }
}
