import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { HostLink } from './host-link.ts';

type Work = () => Promise<void> | void;

/** A host that says more than this before the fault has passed is asked to say it again. */
const maxWaiting = 10_000;

/**
 * Work on the messages of one connection. Work that a fault of the storage prevents is retried, in order, when the
 * fault has passed: the connection stays, and the host is not blamed for a fault that is not its own.
 */
export class RetryingInbox {
  readonly #faults: FaultMonitor;
  readonly #link: HostLink;
  readonly #waiting: Work[] = [];

  constructor(faults: FaultMonitor, link: HostLink) {
    this.#faults = faults;
    this.#link = link;
  }

  /** Resolves when the work is done, or has to wait. Rejects with what is no fault of the surroundings. */
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
