import { errorText } from '@phalanx/settings';
import type { Logger } from 'pino';

import type { AdbConnection, Link, LinkStatus } from '../adb/link.ts';
import { type CallQueue, createCallQueue } from '../driver/call-queue.ts';
import type { PhoneShell } from '../driver/shell/phone-shell.ts';
import type { EarlierSettings } from '../driver/settings/change-settings.ts';
import { type PhoneHistories, PhoneHistory } from './health/phone-histories.ts';
import type { KnownPhones } from './identity/known-phones.ts';
import { leadToOnePhone } from './identity/one-phone.ts';
import { identifyPhone, type PhoneIdentity, readAndroidId } from './identity/phone-identity.ts';
import type { Phone } from './phone.ts';
import { PhoneRecord } from './phone-record.ts';
import type { SessionOptions } from './phone-session.ts';
import { PhoneSupervisor } from './phone-supervisor.ts';

const namelessGraceMs = 1000;
const passing: ReadonlySet<LinkStatus['state']> = new Set(['connecting', 'offline']);

interface RegistryParts {
  readonly histories: PhoneHistories;
  readonly earlier: EarlierSettings;
  readonly known: KnownPhones;
  readonly log: Logger;
  readonly now: () => number;
}

/** Thrown when two links report the same serial number and it can't be determined whether they lead to one phone. */
class DoubtfulPhone extends Error {
  readonly key: string;

  constructor(key: string, message: string, cause: unknown) {
    super(message, { cause });
    this.key = key;
  }
}

/** Identifies the phone behind each link, and assigns the link to that phone's supervisor. */
export class PhoneRegistry {
  readonly #options: SessionOptions;
  readonly #histories: PhoneHistories;
  readonly #earlier: EarlierSettings;
  readonly #known: KnownPhones;
  readonly #log: Logger;
  readonly #now: () => number;
  /** Supervisors by name. Each of these names belongs to one phone for good. */
  readonly #identified = new Map<string, PhoneSupervisor>();
  /** Supervisors of links whose phone has never answered. */
  readonly #provisional = new Map<Link, PhoneSupervisor>();
  /** Supervisor of the phone to which a link last led. */
  readonly #supervisorOf = new Map<Link, PhoneSupervisor>();
  /**
   * Supervisor of the phone to which an ADB name at a place last led: adb lists a returning phone as a new one, and as
   * offline for some seconds.
   */
  readonly #lastOfName = new Map<string, PhoneSupervisor>();
  /** Queues that identify phones with the same serial number, or at the same place, one after another. */
  readonly #turns = new Map<string, CallQueue>();
  /** Connections to phones that have not yet reported all identifying facts. */
  readonly #unconfirmed = new WeakMap<AdbConnection, PhoneIdentity>();
  readonly #listeners = new Set<(phone: Phone) => void>();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(
    options: Omit<SessionOptions, 'confirmIdentity'>,
    { histories, earlier, known, log, now }: RegistryParts,
  ) {
    const confirmIdentity: SessionOptions['confirmIdentity'] = (phone, shell) => this.#confirm(phone, shell);
    this.#options = { ...options, confirmIdentity };
    this.#known = known;
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

  /** Handles a new or changed link. */
  take(link: Link): void {
    if (link.status.state === 'connected') void this.#identify(link, link.status.connection);
    else if (link.status.state === 'unplugged') this.#forget(link, link.status);
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
      await this.#turnOf(identity.serial ?? link.place).run(async () => {
        const key = await this.#recognize(link, connection, identity);
        if (!connection.gone.aborted) this.#assign(link, connection, { key, identity });
      }, connection.gone);
    } catch (error) {
      if (connection.gone.aborted) return;
      const text = errorText(error);
      if (error instanceof DoubtfulPhone) this.#doubt(link, error);
      else this.#tellOfFailure(link, text);
      connection.close(text);
    }
  }

  #turnOf(base: string): CallQueue {
    const turn = this.#turns.get(base) ?? createCallQueue();
    this.#turns.set(base, turn);
    return turn;
  }

  /** Reports a failure of the link, unless the phone is ready over another link. */
  #tellOfFailure(link: Link, text: string): void {
    const { record } = this.#supervisor(link);
    if (record.state.state === 'ready') return;
    record.setTrouble('unresponsive', `${text} Reconnecting; if that does not help, restart the phone.`);
  }

  /**
   * Delays the report of an unnamed phone: adb lists each new phone as offline for a moment, so only a lasting state is
   * worth reporting.
   */
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
   * Returns the key of the phone behind a link. Several phones may share a serial number, and a place may have had
   * other phones, so the identity and a test over both connections decide.
   */
  async #recognize(link: Link, connection: AdbConnection, identity: PhoneIdentity): Promise<string> {
    const { known, fresh } = this.#known.keysFor(identity, link.place);
    for (const key of known) {
      const other = this.#connectedLink(key, link);
      if (other === undefined) return key;
      try {
        if (await leadToOnePhone(connection, other.connection)) return key;
      } catch (error) {
        const why = errorText(error);
        const places = `${other.place} and at ${link.place}`;
        const text = `The phones at ${places} call themselves ${key}, and it can't be told whether they are one: ${why.replace(/\.$/, '')}. Only the first one is used. Disconnect one of them.`;
        throw new DoubtfulPhone(fresh, text, error);
      }
    }
    return fresh;
  }

  /** Returns another link over which the phone with this key is currently connected. */
  #connectedLink(key: string, link: Link): { connection: AdbConnection; place: string } | undefined {
    for (const [other, { record }] of this.#supervisorOf) {
      const { status, place } = other;
      if (other === link || record.serial !== key || !record.isIdentified) continue;
      if (status.state === 'connected' && !status.connection.gone.aborted)
        return { connection: status.connection, place };
    }
    return undefined;
  }

  #assign(
    link: Link,
    connection: AdbConnection,
    { key, identity }: { key: string; identity: PhoneIdentity },
  ): void {
    this.#known.note(key, identity, link.place);
    if (identity.androidId === undefined) this.#unconfirmed.set(connection, identity);
    link.ledTo = identity;
    const before = this.#supervisorOf.get(link);
    const supervisor = this.#identified.get(key) ?? this.#createSupervisor(key, true);
    supervisor.record.identity = identity;
    this.#identified.set(key, supervisor);
    this.#supervisorOf.set(link, supervisor);
    this.#lastOfName.set(nameAtPlace(link), supervisor);
    const wasProvisional = this.#provisional.delete(link);
    // A phone that has just reported its serial number often had that name already. Then no phone has left.
    const isSame = before === supervisor || (wasProvisional && before?.record.serial === key);
    if (!isSame) before?.drop(link, `${link.name} now leads to the phone ${key}.`);
    this.#explainNames(identity, link.place);
    supervisor.take(link);
  }

  /** Updates the explanations of names that this phone may have made ambiguous. */
  #explainNames({ serial }: PhoneIdentity, place: string): void {
    for (const [key, { record }] of this.#identified) {
      const isAlike = serial === undefined ? key.startsWith(place) : key.startsWith(serial);
      if (isAlike) record.setNote(this.#known.explain(key));
    }
  }

  /** Puts a doubtful phone out of use. The next connection of its link tries again. */
  #doubt(link: Link, { key, message }: DoubtfulPhone): void {
    const before = this.#supervisorOf.get(link);
    // The link may lead to a phone that other links already serve.
    if (before !== undefined && !this.#provisional.has(link)) return;
    const supervisor = before?.record.serial === key ? before : this.#createSupervisor(key, false);
    this.#supervisorOf.set(link, supervisor);
    this.#provisional.set(link, supervisor);
    if (before !== supervisor) before?.drop(link, message);
    supervisor.record.doubt(message);
  }

  /** Completes the identity of a phone that could not report all identifying facts while Android started. */
  async #confirm(phone: PhoneRecord, shell: PhoneShell): Promise<void> {
    const { connection } = shell;
    const told = this.#unconfirmed.get(connection);
    if (told === undefined) return;
    const androidId = await readAndroidId(shell);
    if (androidId === undefined) return;
    this.#unconfirmed.delete(connection);
    const identity = { ...told, androidId };
    if (this.#known.isOther(phone.serial, identity))
      throw new Error(`The phone that is connected now is another one than ${phone.serial} was before.`);
    const link = [...this.#supervisorOf.keys()].find(
      ({ status }) => status.state === 'connected' && status.connection === connection,
    );
    phone.identity = identity;
    if (link !== undefined) this.#known.note(phone.serial, identity, link.place);
  }

  #forget(link: Link, { reason, hasLeftList }: Exclude<LinkStatus, { state: 'connected' }>): void {
    const supervisor = this.#supervisorOf.get(link);
    this.#supervisorOf.delete(link);
    this.#provisional.delete(link);
    supervisor?.drop(link, reason, hasLeftList);
  }

  /**
   * Returns the supervisor of a link. A link counts as a separate phone until the phone is identified. A USB serial
   * usually identifies it.
   */
  #supervisor(link: Link): PhoneSupervisor {
    const known = this.#supervisorOf.get(link) ?? this.#awayUnder(link);
    const supervisor = known ?? this.#createSupervisor(link.name, false);
    this.#supervisorOf.set(link, supervisor);
    if (known === undefined) this.#provisional.set(link, supervisor);
    return supervisor;
  }

  /**
   * Returns the supervisor of the absent phone that is expected under this name. A ready phone with this name is
   * another phone with the same serial number.
   */
  #awayUnder(link: Link): PhoneSupervisor | undefined {
    const key = this.#known.expectedKey(link.name, link.place);
    const expected = key === undefined ? undefined : (this.#identified.get(key) ?? this.#recall(key));
    const last = this.#lastOfName.get(nameAtPlace(link)) ?? expected;
    return last?.record.state.state === 'ready' ? undefined : last;
  }

  /** Returns the supervisor of a phone known from before a restart of the host. */
  #recall(serial: string): PhoneSupervisor | undefined {
    if (!this.#histories.knows(serial)) return undefined;
    const supervisor = this.#createSupervisor(serial, true);
    this.#identified.set(serial, supervisor);
    return supervisor;
  }

  #createSupervisor(serial: string, isIdentified: boolean): PhoneSupervisor {
    // ADB's name for an unidentified phone may belong to another phone, so the phone starts with an empty history.
    const history = isIdentified ? this.#histories.historyOf(serial) : new PhoneHistory();
    const hasOwnNumber = this.#known.hasOwnNumber(serial);
    const record = new PhoneRecord({ serial, isIdentified, hasOwnNumber }, history, {
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

/** Returns the name with its place, because placeholder names are shared by many phones. */
const nameAtPlace = ({ name, place }: Link): string => `${name} ${place}`;
