import type { DeviceReport } from '@phalanx/protocol';

import { inPages } from '../connection/pages.ts';
import type { ServerConnection } from '../connection/server-connection.ts';
import type { ServiceClock } from '../connection/service-clock.ts';
import { marksOf } from './identity/phone-identity.ts';
import type { Phone } from './phone.ts';
import type { PhoneWatch } from './watch-phones.ts';
import { onceATurn } from '../time/once-a-turn.ts';

/** Limits of `DeviceReport` for texts. A phone's description of itself may be longer. */
const maxTextLength = 500;

const maxReasonLength = 2000;

/**
 * Time within which a healthy phone has answered, in milliseconds. A ready phone is probed every 5 s and has 3 s to
 * answer, so that a faster heartbeat to the server must not report it as silent.
 */
const probeWindowMs = 8500;
/** States that require a person to act at the phone. They are reported even before the serial number is known. */
const statesForPeople = new Set(['unauthorized', 'no_permissions']);
/** Correction of the clock above which the times in a report are sent again, in milliseconds. */
const noticeableMs = 1000;

/** Reports phones to the server: all of them in `hello`, then the changed ones, once per turn of the event loop. */
export class DeviceReporter {
  readonly #phones: PhoneWatch;
  readonly #connection: ServerConnection;
  readonly #clock: ServiceClock;
  readonly #changed = new Map<string, Phone>();
  /** Serials that were reported to the server. */
  readonly #told = new Set<string>();
  readonly #unsubscribe: () => void;
  #offsetMsOfHello = 0;
  readonly #schedule = onceATurn(() => this.#report());

  constructor(phones: PhoneWatch, connection: ServerConnection, clock: ServiceClock) {
    this.#phones = phones;
    this.#connection = connection;
    this.#clock = clock;
    this.#unsubscribe = phones.onChange((phone) => this.#mark(phone));
    connection.onOnline(() => this.#wentOnline());
  }

  /** Returns reports of all phones for `hello`. */
  all(): DeviceReport[] {
    this.#changed.clear();
    this.#offsetMsOfHello = this.#clock.offsetMs;
    return this.#reportsOf(this.#phones.phones());
  }

  /** Returns the serials of the ready phones that answered after `sinceMs` (host's clock). */
  listReady(sinceMs: number): string[] {
    const confirmedSinceMs = Math.min(sinceMs, Date.now() - probeWindowMs);
    const ready = this.#phones.phones().filter(({ state }) => state.state === 'ready');
    return ready.filter(({ confirmedAt }) => confirmedAt >= confirmedSinceMs).map(({ serial }) => serial);
  }

  close(): void {
    this.#unsubscribe();
  }

  /** Reports all phones again if the `hello` was written with a wrong offset to the service's clock. */
  #wentOnline(): void {
    if (Math.abs(this.#clock.offsetMs - this.#offsetMsOfHello) > noticeableMs) {
      for (const phone of this.#phones.phones()) this.#changed.set(phone.serial, phone);
    }
    this.#schedule();
  }

  #mark(phone: Phone): void {
    this.#changed.set(phone.serial, phone);
    this.#schedule();
  }

  #report(): void {
    if (!this.#connection.online || this.#changed.size === 0) return;
    // A phone that turned out to be another one is no longer found. Its last state reports it as gone.
    const changed = [...this.#changed].map(([serial, phone]) => this.#phones.find(serial) ?? phone);
    this.#changed.clear();
    const devices = this.#reportsOf(changed);
    for (const page of inPages(devices)) this.#connection.send({ type: 'devices', devices: page });
  }

  #reportsOf(phones: readonly Phone[]): DeviceReport[] {
    const told = phones.filter((phone) => this.#isWorthTelling(phone));
    for (const { serial } of told) this.#told.add(serial);
    return told.map((phone) => toDeviceReport(phone, this.#clock));
  }

  #isWorthTelling({ serial, isIdentified, isDoubted, state }: Phone): boolean {
    return isIdentified || isDoubted || this.#told.has(serial) || statesForPeople.has(state.state);
  }
}

/** Converts a phone to the protocol. Before a phone has described itself, its texts are empty and its numbers 0. */
function toDeviceReport(phone: Phone, clock: ServiceClock): DeviceReport {
  const { serial, state, description, warnings, batteryPercent, identity, hasOwnNumber } = phone;
  const { phone: phone_mark, boot: boot_mark } = identity === undefined ? {} : marksOf(identity);
  return {
    serial,
    has_own_number: hasOwnNumber,
    ...(phone_mark !== undefined && { phone_mark }),
    ...(boot_mark !== undefined && { boot_mark }),
    state: state.state,
    reason: state.reason.slice(0, maxReasonLength),
    since: clock.toService(state.since),
    brand: cut(description?.brand),
    model: cut(description?.model),
    android_version: cut(description?.androidVersion),
    sdk_version: description?.sdkVersion ?? 0,
    screen_width: description?.screenWidth ?? 0,
    screen_height: description?.screenHeight ?? 0,
    ...(batteryPercent !== undefined && { battery_percent: batteryPercent }),
    warnings: [...warnings],
  };
}

function cut(text = ''): string {
  return text.slice(0, maxTextLength);
}
