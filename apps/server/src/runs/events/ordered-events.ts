import type { Logger } from 'pino';
import { SerialQueue } from '../../kernel/serial-queue.ts';

/** Sends events in the order in which their changes were stored. */
export class OrderedEvents {
  readonly #queue = new SerialQueue();
  readonly #log: Logger;
  /** Log message for a lost event. */
  readonly #failureMessage: string;

  constructor(log: Logger, failureMessage: string) {
    this.#log = log;
    this.#failureMessage = failureMessage;
  }

  /** Calls `send` once all earlier events have been sent or lost. */
  add(send: () => Promise<void>): void {
    this.#queue.run(send).catch((error: unknown) => this.#log.error({ err: error }, this.#failureMessage));
  }
}
