import type { AdbConnection, Link, LinkStatus, LinkTrouble } from '../adb/link.ts';
import { cableAdvice } from '../driver/apps/maker-switches.ts';
import type { PhoneStateName } from './phone.ts';
import type { PhoneRecord } from './phone-record.ts';
import { type SessionOptions, runSession } from './phone-session.ts';

// States of broken links, most informative first, for a phone without a connected link.
const telling: readonly LinkTrouble[] = [
  'unauthorized',
  'no_permissions',
  'connecting',
  'recovery',
  'sideload',
  'bootloader',
  'offline',
  'unplugged',
];

/** Runs a phone over one working link at a time. */
export class PhoneSupervisor {
  readonly record: PhoneRecord;
  readonly #options: SessionOptions;
  readonly #links = new Set<Link>();
  readonly #tried = new WeakSet<AdbConnection>();
  #running: Promise<void> | undefined;
  #toldRepair: LinkStatus | undefined;
  #isClosed = false;
  /** Reason why the last link was dropped. */
  #leaveReason = 'The phone was just found.';

  constructor(record: PhoneRecord, options: SessionOptions) {
    this.record = record;
    this.#options = options;
  }

  /** Adds or updates a link that leads to this phone. */
  take(link: Link): void {
    this.#links.add(link);
    this.#next();
  }

  /** Removes a link that is gone or now leads to another phone. */
  drop(link: Link, reason: string, hasLeftList = false): void {
    if (!this.#links.delete(link)) return;
    const isAtUsb = hasLeftList && link.place.startsWith('usb:');
    this.#leaveReason = reason + (isAtUsb ? cableAdvice(this.record.description?.brand ?? '') : '');
    this.#next();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  /**
   * Starts a session on a connected link after the previous session ended; without such a link, reports the state of
   * the links.
   */
  #next(): void {
    if (this.#running !== undefined) return;
    const connection = this.#isClosed ? undefined : this.#findConnection();
    if (connection === undefined) {
      this.#tellTrouble();
      return;
    }
    this.#tried.add(connection);
    this.#running = runSession(this.record, connection, this.#options).finally(() => {
      this.#running = undefined;
      this.#next();
    });
  }

  #findConnection(): AdbConnection | undefined {
    for (const { status } of this.#links) {
      if (
        status.state === 'connected' &&
        !status.connection.gone.aborted &&
        !this.#tried.has(status.connection)
      )
        return status.connection;
    }
    return undefined;
  }

  #tellTrouble(): void {
    const statuses = [...this.#links]
      .map(({ status }) => status)
      .filter((status) => status.state !== 'connected');
    const [best] = statuses.sort((a, b) => telling.indexOf(a.state) - telling.indexOf(b.state));
    if (best === undefined) {
      if (this.#links.size === 0) this.record.setTrouble('offline', this.#leaveReason);
      else if (this.record.state.state === 'ready')
        this.record.setTrouble('connecting', 'The connection broke. Connecting again.');
      return;
    }
    // The cause of the last failure is more informative than the attempt to reconnect.
    if (this.record.state.state === 'unresponsive' && best.state === 'connecting') return;
    this.record.setTrouble(phoneStateOf(best), best.reason);
    if (best.repair === undefined || best === this.#toldRepair) return;
    this.#toldRepair = best;
    this.record.repair('reconnect', best.repair);
  }
}

function phoneStateOf({
  state,
}: Exclude<LinkStatus, { state: 'connected' }>): Exclude<PhoneStateName, 'ready'> {
  return state === 'unplugged' ? 'offline' : state;
}
