import type { Logger } from 'pino';

import type { AdbConnection, Link, LinkStatus, LinkTrouble } from '../adb/link.ts';
import type { EarlierSettings } from '../driver/settings/change-settings.ts';
import { type HistoryFolder, PhoneHistory } from './health/history-folder.ts';
import { identifyPhone, type PhoneIdentity } from './start/read-description.ts';
import type { Phone, PhoneStateName } from './phone.ts';
import { PhoneRecord } from './phone-record.ts';
import { type SessionOptions, runSession } from './phone-session.ts';
import { cableAdvice } from '../driver/apps/maker-switches.ts';

const namelessGraceMs = 1000;
const passing: ReadonlySet<LinkStatus['state']> = new Set(['connecting', 'offline']);

interface RegistryParts {
  readonly histories: HistoryFolder;
  readonly earlier: EarlierSettings;
  readonly log: Logger;
  readonly now: () => number;
}

/** Finds out which phone each link leads to, and gives it to that phone's supervisor. */
export class PhoneRegistry {
  readonly #options: SessionOptions;
  readonly #histories: HistoryFolder;
  readonly #earlier: EarlierSettings;
  readonly #log: Logger;
  readonly #now: () => number;
  /** By the phone's own serial number. */
  readonly #identified = new Map<string, PhoneSupervisor>();
  /** Of links whose phone has never answered. */
  readonly #provisional = new Map<Link, PhoneSupervisor>();
  /** The phone that a link led to last. */
  readonly #supervisorOf = new Map<Link, PhoneSupervisor>();
  /** What the phone of a link told of its boot. */
  readonly #bootOf = new Map<Link, string | undefined>();
  /** The phone that a name of ADB led to last: adb lists a phone that comes back as a new one, and as offline for seconds. */
  readonly #lastOfName = new Map<string, PhoneSupervisor>();
  readonly #listeners = new Set<(phone: Phone) => void>();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(options: SessionOptions, { histories, earlier, log, now }: RegistryParts) {
    this.#options = options;
    this.#histories = histories;
    this.#earlier = earlier;
    this.#log = log;
    this.#now = now;
  }

  phones(): readonly Phone[] {
    return [...this.#identified.values(), ...this.#provisional.values()].map(({ record }) => record);
  }

  find(serial: string): Phone | undefined {
    return this.#identified.get(serial)?.record ?? this.phones().find((phone) => phone.serial === serial);
  }

  onChange(listener: (phone: Phone) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A link is new or has changed. */
  take(link: Link): void {
    if (link.status.state === 'connected') void this.#identify(link, link.status.connection);
    else if (link.status.state === 'unplugged') this.#forget(link, link.status.reason);
    else if (this.#supervisorOf.has(link) || !passing.has(link.status.state))
      this.#supervisor(link).take(link);
    else this.#waitBeforeTelling(link);
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    const supervisors = [...this.#identified.values(), ...this.#provisional.values()];
    await Promise.all(supervisors.map((supervisor) => supervisor.close()));
    this.#listeners.clear();
  }

  async #identify(link: Link, connection: AdbConnection): Promise<void> {
    try {
      const isInUse = this.#supervisorOf.get(link)?.record.screen.isHeld === true;
      const identity = await this.#options.starts.run(
        { signal: connection.gone, rank: isInUse ? 'in_use' : 'unknown', onWait: () => {} },
        () => identifyPhone(connection),
      );
      if (connection.gone.aborted) return;
      this.#assign(link, this.#nameOf(link, identity), identity.bootId);
    } catch (error) {
      if (connection.gone.aborted) return;
      const text = error instanceof Error ? error.message : String(error);
      this.#supervisor(link).record.setTrouble(
        'unresponsive',
        `${text} Reconnecting; if that does not help, restart the phone.`,
      );
      connection.close(text);
    }
  }

  /** adb lists each new phone as offline for a moment. A phone without a name is worth telling of only when it stays so. */
  #waitBeforeTelling(link: Link): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      const { state } = link.status;
      if (!this.#supervisorOf.has(link) && state !== 'connected' && state !== 'unplugged')
        this.#supervisor(link).take(link);
    }, namelessGraceMs);
    this.#timers.add(timer);
  }

  /**
   * A serial number is taken for the phone's own, unless another phone with it is connected now: two links lead to one
   * phone only when both tell the same boot. Who has no number of its own is known by its place.
   */
  #nameOf(link: Link, { serial, bootId }: PhoneIdentity): string {
    if (serial === undefined) return link.place;
    const boots = [...this.#bootOf]
      .filter(([other]) => other !== link && other.status.state === 'connected')
      .filter(([other]) => this.#supervisorOf.get(other)?.record.serial === serial)
      .map(([, boot]) => boot);
    const isOther = bootId !== undefined && boots.some((boot) => boot !== undefined && boot !== bootId);
    return isOther ? `${serial}@${link.place}` : serial;
  }

  #assign(link: Link, serial: string, bootId: string | undefined): void {
    this.#bootOf.set(link, bootId);
    const before = this.#supervisorOf.get(link);
    const supervisor = this.#identified.get(serial) ?? this.#createSupervisor(serial, true);
    this.#identified.set(serial, supervisor);
    this.#supervisorOf.set(link, supervisor);
    this.#lastOfName.set(link.name, supervisor);
    const wasProvisional = this.#provisional.delete(link);
    // A phone that only now told its serial is often known by it already: then nothing went away.
    const isSame = before === supervisor || (wasProvisional && before?.record.serial === serial);
    if (!isSame) before?.drop(link, `${link.name} now leads to the phone ${serial}.`);
    supervisor.take(link);
  }

  #forget(link: Link, reason: string): void {
    const supervisor = this.#supervisorOf.get(link);
    this.#supervisorOf.delete(link);
    this.#bootOf.delete(link);
    this.#provisional.delete(link);
    supervisor?.drop(link, reason);
  }

  /** Until a link has told its phone, it stands for a phone of its own; a USB serial is most often the phone's own already. */
  #supervisor(link: Link): PhoneSupervisor {
    const known = this.#supervisorOf.get(link) ?? this.#awayUnder(link.name);
    const supervisor = known ?? this.#createSupervisor(link.name, false);
    this.#supervisorOf.set(link, supervisor);
    if (known === undefined) this.#provisional.set(link, supervisor);
    return supervisor;
  }

  /** One that is here now under this name is another phone with the same number. */
  #awayUnder(name: string): PhoneSupervisor | undefined {
    const last = this.#lastOfName.get(name) ?? this.#identified.get(name) ?? this.#recall(name);
    return last?.record.state.state === 'ready' ? undefined : last;
  }

  /** A phone from before a restart of the host. */
  #recall(serial: string): PhoneSupervisor | undefined {
    if (!this.#histories.knows(serial)) return undefined;
    const supervisor = this.#createSupervisor(serial, true);
    this.#identified.set(serial, supervisor);
    return supervisor;
  }

  #createSupervisor(serial: string, isIdentified: boolean): PhoneSupervisor {
    // Another one may have the name that ADB has for a phone.
    const history = isIdentified ? this.#histories.historyOf(serial) : new PhoneHistory();
    const record = new PhoneRecord({ serial, isIdentified }, history, {
      onChange: (phone) => this.#tell(phone),
      now: this.#now,
      earlier: isIdentified ? this.#earlier.valuesOf(serial) : undefined,
    });
    return new PhoneSupervisor(record, this.#options);
  }

  #tell(phone: Phone): void {
    const { state, reason } = phone.state;
    this.#log.info({ phone: phone.serial, state, reason }, 'phone state');
    for (const listener of this.#listeners) {
      try {
        listener(phone);
      } catch (error) {
        this.#log.error({ err: error, phone: phone.serial }, 'a listener of phone states failed');
      }
    }
  }
}

// Which link tells most when none is connected, best first.
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

/** Runs a phone over whichever of its links works, one at a time. */
class PhoneSupervisor {
  readonly record: PhoneRecord;
  readonly #options: SessionOptions;
  readonly #links = new Set<Link>();
  readonly #tried = new WeakSet<AdbConnection>();
  #running: Promise<void> | undefined;
  #toldRepair: LinkStatus | undefined;
  #isClosed = false;
  /** Why the last link left. */
  #leaveReason = 'The phone was just found.';

  constructor(record: PhoneRecord, options: SessionOptions) {
    this.record = record;
    this.#options = options;
  }

  /** A link leads to this phone, or has changed. */
  take(link: Link): void {
    this.#links.add(link);
    this.#next();
  }

  /** The link is no more, or now leads to another phone. */
  drop(link: Link, reason: string): void {
    if (!this.#links.delete(link)) return;
    const isAtUsb = link.place.startsWith('usb:');
    this.#leaveReason = reason + (isAtUsb ? cableAdvice(this.record.description?.brand ?? '') : '');
    this.#next();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  /** A session that ended is followed by one on another link, or by the trouble of the links. */
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
    // What made the last session fail says more than that a new connection is on its way.
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
