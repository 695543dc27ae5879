import { errorText } from '@phalanx/settings';
import type { Logger } from 'pino';

import type { ServerConnection } from '../../connection/server-connection.ts';
import type { Backoff } from '@phalanx/timing/backoff';
import { createBackoff } from '../../time/backoff.ts';
import type { RecordLimits } from '../record-limits.ts';

interface DeliveryQueueOptions {
  connection: ServerConnection;
  limits: Pick<RecordLimits, 'uploadsAtOnce' | 'firstRetryMs' | 'lastRetryMs'>;
  log: Logger;
  /** Name of a delivered item in log messages. Example: `A record`. */
  what: string;
  /** Rejects when a retry may help. The signal aborts when the connection breaks. */
  deliver: (id: string, signal: AbortSignal) => Promise<void>;
}

/** Delivers items from disk to the server, a few at a time while there is a connection, until each was accepted. */
export class DeliveryQueue {
  readonly #options: DeliveryQueueOptions;
  /** Items that wait for their delivery, in order. */
  readonly #queue = new Set<string>();
  readonly #backoffs = new Map<string, Backoff>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #active = new Map<string, Promise<void>>();
  /** Aborts when the connection breaks. */
  #session = new AbortController();
  #isClosed = false;

  constructor(options: DeliveryQueueOptions) {
    this.#options = options;
    options.connection.onOnline(() => this.#connected());
    options.connection.onOffline(() => this.#session.abort(new Error('The connection broke')));
  }

  add(id: string): void {
    this.#queue.add(id);
    this.#pump();
  }

  /** Stops the deliveries. Items that are not delivered stay on disk. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#session.abort(new Error('The host stops'));
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#active.values());
  }

  /** Retries items in backoff at once, because the problem may have disappeared with the old connection. */
  #connected(): void {
    this.#session = new AbortController();
    for (const [id, timer] of this.#timers) {
      clearTimeout(timer);
      this.#queue.add(id);
    }
    this.#timers.clear();
    this.#pump();
  }

  #pump(): void {
    for (const id of this.#queue) {
      const hasRoom = this.#active.size < this.#options.limits.uploadsAtOnce;
      if (this.#isClosed || !this.#options.connection.online || !hasRoom) return;
      if (this.#active.has(id)) continue;
      this.#queue.delete(id);
      this.#active.set(id, this.#attempt(id, this.#session.signal));
    }
  }

  async #attempt(id: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.deliver(id, signal);
      this.#backoffs.delete(id);
    } catch (error) {
      if (signal.aborted) this.#queue.add(id);
      else this.#retryLater(id, error);
    }
    this.#active.delete(id);
    this.#pump();
  }

  #retryLater(id: string, error: unknown): void {
    const { limits, log, what } = this.#options;
    const { firstRetryMs: firstMs, lastRetryMs: maxMs } = limits;
    const backoff = this.#backoffs.get(id) ?? createBackoff({ firstMs, maxMs });
    this.#backoffs.set(id, backoff);
    const waitMs = backoff.nextMs();
    const reason = errorText(error);
    log.warn({ id, reason, waitMs: Math.round(waitMs) }, `${what} could not be sent; trying again`);
    const retry = (): void => {
      this.#timers.delete(id);
      this.add(id);
    };
    this.#timers.set(id, setTimeout(retry, waitMs));
  }
}
