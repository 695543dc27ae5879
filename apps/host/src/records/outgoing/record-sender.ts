import type { Logger } from 'pino';

import type { ServerConnection } from '../../connection/server-connection.ts';
import type { ServiceClock } from '../../connection/service-clock.ts';
import type { CalledPhone } from '../../phones/call-phone.ts';
import type { PhoneWatch } from '../../phones/watch-phones.ts';
import { createPhoneCamera } from '../phone-camera.ts';
import type { CaptureServer } from './put-capture.ts';
import type { RecordLimits } from '../record-limits.ts';
import { RecordOutbox } from './record-outbox.ts';
import { type MissingCapture, RecordUploader } from './record-uploader.ts';
import { RunRecorder } from '../run-recorder.ts';

export interface RecordDeliveryOptions extends CaptureServer {
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
