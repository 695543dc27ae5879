import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { HostLink } from './host-link.ts';

type Work = () => Promise<void> | void;

/**
 * Maximum number of messages that wait for a storage fault to pass. Beyond that, the host is disconnected and has to
 * resend them.
 */
const maxWaiting = 10_000;

/**
 * Inbox for the messages of one connection. Work that fails because of a storage fault is retried in order once the
 * fault has passed. The connection stays open, because the host is not to blame for the fault.
 */
export class RetryingInbox {
  readonly #faults: FaultMonitor;
  readonly #link: HostLink;
  readonly #waiting: Work[] = [];

  constructor(faults: FaultMonitor, link: HostLink) {
    this.#faults = faults;
    this.#link = link;
  }

  /** Resolves when the work is done or queued. Rejects with errors that are not environment faults. */
  async do(work: Work): Promise<void> {
    if (this.#waiting.length > 0) return this.#keep(work);
    try {
      await work();
    } catch (error) {
      if (!this.#faults.note(error)) throw error;
      this.#keep(work);
    }
  }

  #keep(work: Work): void {
    if (this.#waiting.length >= maxWaiting) throw new Error('too many messages wait for the storage');
    this.#waiting.push(work);
    if (this.#waiting.length === 1) void this.#doLater();
  }

  async #doLater(): Promise<void> {
    await this.#faults.whenStorable();
    try {
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        const work = next;
        const isDone = await this.#faults.untilDone(() => (this.#link.isOpen ? work() : undefined));
        if (!isDone || !this.#link.isOpen) return;
        this.#waiting.shift();
      }
    } catch (error) {
      this.#faults.report(error, 'a message from a host could not be handled');
      this.#link.drop(1011, 'the service could not handle a message');
    }
  }
}
