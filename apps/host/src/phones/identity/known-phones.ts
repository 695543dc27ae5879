import type { Logger } from 'pino';
import { Type } from 'typebox';
import type { HostStore } from '../../store/host-store.ts';
import type { JsonTable } from '../../store/json-table.ts';
import { isOwnNumber } from '../../adb/own-number.ts';
import type { PhoneIdentity } from './phone-identity.ts';

const nullableText = Type.Union([Type.String(), Type.Null()]);
const shape = Type.Object({
  key: Type.String({ minLength: 1 }),
  number: nullableText,
  place: Type.String(),
  kind: Type.String(),
  androidId: nullableText,
});

/** Identifying marks by which this host recognizes a phone. */
interface KnownPhone {
  /** Name that the host gives the phone. It is never reused for another phone. */
  readonly key: string;
  /** Serial number of the phone; null when the phone has no serial number of its own. */
  readonly number: string | null;
  /** Place at which the phone was last connected. */
  readonly place: string;
  readonly kind: string;
  readonly androidId: string | null;
}

/** Maximum number of names at one place. A place with more of them has phones whose marks are not stable. */
const maxNames = 100;

/** Known phones of this host. A key stays with its phone across restarts of the host. */
export class KnownPhones {
  readonly #table: JsonTable<typeof shape>;
  readonly #log: Logger;
  readonly #phones = new Map<string, KnownPhone>();
  #writing: Promise<void> = Promise.resolve();

  constructor(store: HostStore, log: Logger) {
    this.#table = store.table('known_phone', shape);
    this.#log = log;
  }

  /** Loads the phones. Call it before the first one connects. */
  async load(): Promise<void> {
    for await (const [key, phone] of this.#table.entries())
      if (phone !== undefined) this.#phones.set(key, phone);
  }

  /**
   * Returns the keys of the phones that match, the most likely first, and the fresh key for a phone that is none of
   * them.
   */
  keysFor(identity: PhoneIdentity, place: string): { known: string[]; fresh: string } {
    const alike = this.#alike(identity.serial, place);
    const isSure = identity.serial !== undefined && alike.length <= 1;
    const likeness = (phone: KnownPhone): number =>
      (phone.androidId !== null && phone.androidId === identity.androidId ? 2 : 0) +
      (phone.place === place ? 1 : 0);
    const fitting = alike.filter((phone) => !isOther(phone, identity, isSure));
    const known = fitting.toSorted((one, other) => likeness(other) - likeness(one)).map(({ key }) => key);
    return { known, fresh: this.#freshKey(identity.serial, place) };
  }

  /** Whether the phone's current identity contradicts the known phone with this key. */
  isOther(key: string, identity: PhoneIdentity): boolean {
    const phone = this.#phones.get(key);
    if (phone === undefined) return false;
    const isSure = phone.number !== null && this.#alike(phone.number, phone.place).length <= 1;
    return isOther(phone, identity, isSure);
  }

  /** Whether the key is the serial number of its phone. */
  hasOwnNumber(key: string): boolean {
    const phone = this.#phones.get(key);
    return phone === undefined ? isOwnNumber(key) : phone.number === key;
  }

  /**
   * Returns the key of the phone that ADB most likely means by a name at a place, before the phone has answered.
   * Undefined when that is ambiguous.
   */
  expectedKey(name: string, place: string): string | undefined {
    const alike = this.#alike(isOwnNumber(name) ? name : undefined, place);
    if (alike.length > 1) return alike.find((phone) => phone.number === name && phone.place === place)?.key;
    return alike[0]?.key ?? name;
  }

  /** Explains for people why the host gives a phone its name. Empty for a phone with its own unique serial number. */
  explain(key: string): string {
    const { number = null, place = key } = this.#phones.get(key) ?? {};
    const alike = this.#alike(number ?? undefined, place);
    if (number === null)
      return alike.length <= 1
        ? `It has no serial number of its own: its host knows it by its place, ${place}.`
        : `It has no serial number of its own, and other phones were at ${place}: its host knows it as ${key}.`;
    if (alike.length <= 1) return '';
    const places = [...new Set(alike.map((phone) => phone.place))].join(', ');
    return `Several phones have the serial number ${number}, at ${places}: its host knows this one as ${key}.`;
  }

  /** Stores the identity that the phone with this key reported at this place. */
  note(key: string, identity: PhoneIdentity, place: string): void {
    const before = this.#phones.get(key);
    const number = identity.serial ?? null;
    const androidId = identity.androidId ?? before?.androidId ?? null;
    const phone: KnownPhone = { key, number, place, kind: identity.kind, androidId };
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(phone)) return;
    this.#phones.set(key, phone);
    this.#writing = this.#table
      .put(key, phone)
      .catch((error: unknown) =>
        this.#log.error({ err: error }, 'What is known of a phone can not be written'),
      );
  }

  /** Resolves when all pending writes are done. */
  async close(): Promise<void> {
    await this.#writing;
  }

  /** Returns phones with this serial number; without one, the phones last seen at this place. */
  #alike(number: string | undefined, place: string): KnownPhone[] {
    const phones = [...this.#phones.values()];
    return number === undefined
      ? phones.filter((phone) => phone.number === null && phone.place === place)
      : phones.filter((phone) => phone.number === number);
  }

  #freshKey(number: string | undefined, place: string): string {
    const atPlace = number === undefined ? place : `${number}@${place}`;
    const names = number === undefined ? [] : [number];
    const numbered = Array.from({ length: maxNames - 1 }, (_, at) => `${atPlace}#${at + 2}`);
    const free = [...names, atPlace, ...numbered].find((key) => !this.#phones.has(key));
    if (free === undefined)
      throw new Error(
        `${maxNames} phones without a number of their own were at ${place}: it can't be told which one this is.`,
      );
    return free;
  }
}

/**
 * Whether the identity belongs to another phone. A factory reset changes the Android ID but not the model, so a changed
 * ID alone does not make another phone when the serial number is unique.
 */
function isOther(phone: KnownPhone, { kind, androidId }: PhoneIdentity, isSure: boolean): boolean {
  const isOtherKind = phone.kind !== kind;
  const isOtherId = phone.androidId !== null && androidId !== undefined && phone.androidId !== androidId;
  return isSure ? isOtherKind && isOtherId : isOtherKind || isOtherId;
}
