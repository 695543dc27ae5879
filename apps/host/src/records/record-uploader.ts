import type { CaptureKind } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { ServerConnection } from '../connection/server-connection.ts';
import { type Backoff, createBackoff } from '../time/backoff.ts';
import { withTimeLimit } from '../time/time-limit.ts';
import { type CaptureServer, putCapture } from './put-capture.ts';
import type { RecordLimits } from './record-limits.ts';
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
 * Brings the records of the outbox to the server, a few at a time: tells it of the record, sends the captures that it
 * names as missing, and forgets the record. Whatever goes wrong begins again with the telling.
 */
export class RecordUploader {
  readonly #options: RecordUploaderOptions;
  /** Records whose turn has not come, in order. */
  readonly #queue = new Set<string>();
  readonly #answers = new Map<string, (missing: readonly MissingCapture[]) => void>();
  readonly #backoffs = new Map<string, Backoff>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #active = new Map<string, Promise<void>>();
  /** Aborted when the connection breaks. */
  #session = new AbortController();
  #isClosed = false;

  constructor(options: RecordUploaderOptions) {
    this.#options = options;
    options.connection.onOnline(() => this.#connected());
    options.connection.onOffline(() => this.#session.abort(new Error('The connection broke')));
  }

  add(recordId: string): void {
    this.#queue.add(recordId);
    this.#pump();
  }

  /** The server has the record, and says what it lacks. */
  stored(recordId: string, missing: readonly MissingCapture[]): void {
    this.#answers.get(recordId)?.(missing);
  }

  /** What is not delivered stays on disk. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#session.abort(new Error('The host stops'));
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#active.values());
  }

  /** What waited for another try need not wait: the trouble may have gone with the old connection. */
  #connected(): void {
    this.#session = new AbortController();
    for (const [recordId, timer] of this.#timers) {
      clearTimeout(timer);
      this.#queue.add(recordId);
    }
    this.#timers.clear();
    this.#pump();
  }

  #pump(): void {
    for (const recordId of this.#queue) {
      const hasRoom = this.#active.size < this.#options.limits.uploadsAtOnce;
      if (this.#isClosed || !this.#options.connection.online || !hasRoom) return;
      if (this.#active.has(recordId)) continue;
      this.#queue.delete(recordId);
      this.#active.set(recordId, this.#attempt(recordId, this.#session.signal));
    }
  }

  async #attempt(recordId: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#deliver(recordId, signal);
      this.#backoffs.delete(recordId);
    } catch (error) {
      if (signal.aborted) this.#queue.add(recordId);
      else this.#retryLater(recordId, error);
    }
    this.#active.delete(recordId);
    this.#pump();
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

  #retryLater(recordId: string, error: unknown): void {
    const { limits, log } = this.#options;
    const { firstRetryMs: firstMs, lastRetryMs: lastMs } = limits;
    const backoff = this.#backoffs.get(recordId) ?? createBackoff({ firstMs, lastMs });
    this.#backoffs.set(recordId, backoff);
    const waitMs = backoff.nextMs();
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ recordId, reason, waitMs: Math.round(waitMs) }, 'A record could not be sent; trying again');
    const retry = (): void => {
      this.#timers.delete(recordId);
      this.add(recordId);
    };
    this.#timers.set(recordId, setTimeout(retry, waitMs));
  }
}
