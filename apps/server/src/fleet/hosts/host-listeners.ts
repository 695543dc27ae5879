import type { HostMessage } from '@phalanx/protocol';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { HostLink, LogFrame } from './host-link.ts';
import { RetryingInbox } from './retrying-inbox.ts';

type Said<Type extends HostMessage['type']> = Extract<HostMessage, { type: Type }>;

/** Host events with their arguments, which follow the link of the host. */
interface HostEvents {
  hello: [hello: Said<'hello'>];
  devices: [reports: Said<'devices'>['devices']];
  /** Serials of the phones that are ready. */
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

/** Dispatches messages of hosts to the features that have registered for them. */
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
   * Registers a listener. Listeners are called in registration order; each is awaited before the next. Work that fails
   * because of a storage fault is retried later. Heartbeats and closes are never queued, so they never wait behind it.
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
