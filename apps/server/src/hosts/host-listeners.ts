import type { HostMessage, WireLogEntries } from '@phalanx/protocol';

import type { HostLink } from './host-link.ts';

type Said<Type extends HostMessage['type']> = Extract<HostMessage, { type: Type }>;

/** What hosts say, beside the link that they say it on. */
interface HostEvents {
  hello: [hello: Said<'hello'>];
  devices: [reports: Said<'devices'>['devices']];
  /** The serials of the phones that are ready. */
  heartbeat: [ready: readonly string[]];
  runs: [reports: Said<'runs'>['runs']];
  logs: [runId: string, batch: { firstSeq: number; entries: WireLogEntries }];
  record: [report: Said<'record'>['record']];
  closed: [];
}

type Listener<Name extends keyof HostEvents> = (
  link: HostLink,
  ...said: HostEvents[Name]
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

  /** Listeners are told in the order in which they registered; each is awaited before the next. */
  on<Name extends keyof HostEvents>(name: Name, listener: Listener<Name>): void {
    this.#listeners[name].push(listener);
  }

  async tell<Name extends keyof HostEvents>(
    name: Name,
    link: HostLink,
    ...said: HostEvents[Name]
  ): Promise<void> {
    for (const listener of this.#listeners[name]) await listener(link, ...said);
  }
}
