import type { HostMessage } from '@phalanx/protocol';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { HostLink, LogFrame } from './host-link.ts';

type Said<Type extends HostMessage['type']> = Extract<HostMessage, { type: Type }>;

/** Events of hosts and their arguments, beside the link that they come on. */
interface HostEvents {
  hello: [hello: Said<'hello'>];
  devices: [reports: Said<'devices'>['devices']];
  /** The serials of the phones that are ready. */
  heartbeat: [ready: readonly string[]];
  runs: [reports: Said<'runs'>['runs']];
  logs: [runId: string, batch: LogFrame];
  record: [report: Said<'record'>['record']];
  closed: [];
}

type Listener<Name extends keyof HostEvents> = (
  link: HostLink,
  ...values: HostEvents[Name]
) => Promise<void> | void;

/** Brings what hosts say to the features that have registered for it. */
export class HostListeners {
  readonly #listeners: { [Name in keyof HostEvents]: Listener<Name>[] } = {
    hello: [],
    devices: [],
    heartbeat: [],
    runs: [],
    logs: [],
    record: [],
    closed: [],
  };

  readonly #works = new WeakMap<HostLink, RetryingInbox>();
  readonly #faults: FaultMonitor;

  constructor(faults: FaultMonitor) {
    this.#faults = faults;
  }

  /**
   * Listeners are told in the order in which they registered; each is awaited before the next. What a
   * fault of the storage prevents is done later; signs of life are not, and so never wait behind it.
   */
  on<Name extends keyof HostEvents>(name: Name, listener: Listener<Name>): void {
    this.#listeners[name].push(listener);
  }

  async notify<Name extends keyof HostEvents>(
    name: Name,
    link: HostLink,
    ...values: HostEvents[Name]
  ): Promise<void> {
    const work = this.#workOf(link);
    for (const listener of this.#listeners[name]) {
      if (name === 'heartbeat' || name === 'closed') await listener(link, ...values);
      else await work.do(() => listener(link, ...values));
    }
  }

  #workOf(link: HostLink): RetryingInbox {
    const work = this.#works.get(link) ?? new RetryingInbox(this.#faults, link);
    this.#works.set(link, work);
    return work;
  }
}

type Work = () => Promise<void> | void;

/** A host that says more than this before the fault has passed is asked to say it again. */
const maxWaiting = 10_000;

/**
 * Work on the messages of one connection. Work that a fault of the storage prevents is retried, in order, when the
 * fault has passed: the connection stays, and the host is not blamed for a fault that is not its own.
 */
class RetryingInbox {
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
