import type { Logger } from 'pino';

import type { AdbConnection, Link, LinkStatus } from '../adb/link.ts';
import { type CallQueue, createCallQueue } from '../driver/call-queue.ts';
import type { PhoneShell } from '../driver/shell/phone-shell.ts';
import type { EarlierSettings } from '../driver/settings/change-settings.ts';
import { type HistoryFolder, PhoneHistory } from './health/history-folder.ts';
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
  readonly histories: HistoryFolder;
  readonly earlier: EarlierSettings;
  readonly known: KnownPhones;
  readonly log: Logger;
  readonly now: () => number;
}

/** Two links tell the same number, and it can't be found out whether they lead to one phone. */
class DoubtfulPhone extends Error {
  readonly key: string;

  constructor(key: string, message: string, cause: unknown) {
    super(message, { cause });
    this.key = key;
  }
}

/** Finds out which phone each link leads to, and gives it to that phone's supervisor. */
export class PhoneRegistry {
  readonly #options: SessionOptions;
  readonly #histories: HistoryFolder;
  readonly #earlier: EarlierSettings;
  readonly #known: KnownPhones;
  readonly #log: Logger;
  readonly #now: () => number;
  /** Supervisors by the names that never change their phone. */
  readonly #identified = new Map<string, PhoneSupervisor>();
  /** Supervisors of links whose phone has never answered. */
  readonly #provisional = new Map<Link, PhoneSupervisor>();
  /** The phone that a link led to last. */
  readonly #supervisorOf = new Map<Link, PhoneSupervisor>();
  /** The phone that a name of ADB led to last at a place: adb lists a phone that comes back as a new one, and as offline for seconds. */
  readonly #lastOfName = new Map<string, PhoneSupervisor>();
  /** Phones with one number, or at one place, are told apart one after the other. */
  readonly #turns = new Map<string, CallQueue>();
  /** Connections to phones that did not tell yet all by which they are known. */
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

  /** A link is new or has changed. */
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
      const text = error instanceof Error ? error.message : String(error);
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

  /** A phone that another link serves is none the worse for it. */
  #tellOfFailure(link: Link, text: string): void {
    const { record } = this.#supervisor(link);
    if (record.state.state === 'ready') return;
    record.setTrouble('unresponsive', `${text} Reconnecting; if that does not help, restart the phone.`);
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

  /** A number may be of several phones, and a place may have had others: what they tell and what they keep decides. */
  async #recognize(link: Link, connection: AdbConnection, identity: PhoneIdentity): Promise<string> {
    const { known, fresh } = this.#known.keysFor(identity, link.place);
    for (const key of known) {
      const other = this.#connectedLink(key, link);
      if (other === undefined) return key;
      try {
        if (await leadToOnePhone(connection, other.connection)) return key;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        const places = `${other.place} and at ${link.place}`;
        const text = `The phones at ${places} call themselves ${key}, and it can't be told whether they are one: ${why.replace(/\.$/, '')}. Only the first one is used. Disconnect one of them.`;
        throw new DoubtfulPhone(fresh, text, error);
      }
    }
    return fresh;
  }

  /** Another link over which the phone of this key is connected now. */
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
    // A phone that only now told its serial is often known by it already: then nothing went away.
    const isSame = before === supervisor || (wasProvisional && before?.record.serial === key);
    if (!isSame) before?.drop(link, `${link.name} now leads to the phone ${key}.`);
    this.#explainNames(identity, link.place);
    supervisor.take(link);
  }

  /** Explains the names that the coming of this phone may have made less clear. */
  #explainNames({ serial }: PhoneIdentity, place: string): void {
    for (const [key, { record }] of this.#identified) {
      const isAlike = serial === undefined ? key.startsWith(place) : key.startsWith(serial);
      if (isAlike) record.setNote(this.#known.explain(key));
    }
  }

  /** Nobody uses it. It is tried again with the next connection of its link. */
  #doubt(link: Link, { key, message }: DoubtfulPhone): void {
    const before = this.#supervisorOf.get(link);
    // A way to a phone that is known by other ways as well.
    if (before !== undefined && !this.#provisional.has(link)) return;
    const supervisor = before?.record.serial === key ? before : this.#createSupervisor(key, false);
    this.#supervisorOf.set(link, supervisor);
    this.#provisional.set(link, supervisor);
    if (before !== supervisor) before?.drop(link, message);
    supervisor.record.doubt(message);
  }

  /** While Android starts, a phone does not tell all by which it is known. */
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

  /** Supervisor of a link. A link stands for a phone of its own until it has told it; a USB serial is most often its own. */
  #supervisor(link: Link): PhoneSupervisor {
    const known = this.#supervisorOf.get(link) ?? this.#awayUnder(link);
    const supervisor = known ?? this.#createSupervisor(link.name, false);
    this.#supervisorOf.set(link, supervisor);
    if (known === undefined) this.#provisional.set(link, supervisor);
    return supervisor;
  }

  /** One that is here now under this name is another phone with the same number. */
  #awayUnder(link: Link): PhoneSupervisor | undefined {
    const key = this.#known.expectedKey(link.name, link.place);
    const expected = key === undefined ? undefined : (this.#identified.get(key) ?? this.#recall(key));
    const last = this.#lastOfName.get(nameAtPlace(link)) ?? expected;
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

/** Placeholders are names of many phones. */
const nameAtPlace = ({ name, place }: Link): string => `${name} ${place}`;
