import type { CaptureKind } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { ServerConnection } from '../../connection/server-connection.ts';
import { withTimeLimit } from '../../time/time-limit.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { type CaptureServer, putCapture } from './put-capture.ts';
import type { RecordLimits } from '../record-limits.ts';
import type { RecordIndex } from './outgoing-record.ts';
import type { RecordOutbox } from './record-outbox.ts';

/** A capture that the server has not got. */
export interface MissingCapture {
  screen_id: string;
  kind: CaptureKind;
}

export interface RecordUploaderOptions extends CaptureServer {
  connection: ServerConnection;
  outbox: RecordOutbox;
  limits: Pick<RecordLimits, 'uploadMs' | 'uploadsAtOnce' | 'firstRetryMs' | 'lastRetryMs' | 'answerMs'>;
  log: Logger;
}

/**
 * Brings the records of the outbox to the server: tells it of the record, sends the captures that it names as missing,
 * and forgets the record. Whatever goes wrong begins again with the telling.
 */
export class RecordUploader {
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

  /** What is not delivered stays on disk. */
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
      // Or else it had to make room for newer ones.
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
