import type { FaultMonitor } from '../faults/fault-monitor.ts';
import type { HostLink } from './host-link.ts';

type Work = () => Promise<void> | void;

/** A host that says more than this before the fault has passed is asked to say it again. */
const maxWaiting = 10_000;

/**
 * What is done with the messages of one connection. What a fault of the storage prevents is done again, in order,
 * when the fault has passed: the connection stays, and the host is not blamed for what is not its own.
 */
export class PatientWork {
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
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!(await this.#faults.whenStorable()) || !this.#link.isOpen) return;
      try {
        await next();
      } catch (error) {
        if (this.#faults.note(error)) continue;
        this.#faults.report(error, 'a message of a host could not be handled');
        this.#link.drop(1011, 'the service could not handle a message');
        return;
      }
      this.#waiting.shift();
    }
  }
}
