import { readFile } from 'node:fs/promises';
import { SettingError } from '@phalanx/settings';
import type { PhoneShell } from '../driver/shell/phone-shell.ts';
import { pause } from '../time/time-limit.ts';

/** Maximum number of wrong PINs: Android locks a phone for increasing periods after them. */
const maxTries = 2;
const openMs = 3000;
const pollMs = 150;
const everyPhone = '*';
const keyWakeUp = 224;
const keyEnter = 66;
/** Key code of the digit 0. */
const keyZero = 7;

/**
 * Result of an unlock. `closed`: the PIN was typed, but the phone did not unlock. `given_up`: the PIN was wrong too
 * often.
 */
export type Unlocking = 'open' | 'no_pin' | 'closed' | 'given_up';

/** PINs that unlock the lock screens of phones. A PIN never occurs in an error or a log. */
export class PhonePins {
  readonly #pins: ReadonlyMap<string, string>;
  readonly #failures = new Map<string, number>();

  /** `pins` are keyed by serial number as in the list of devices; `*` applies to all other phones. */
  constructor(pins: ReadonlyMap<string, string> = new Map()) {
    this.#pins = pins;
  }

  /**
   * Types the PIN, if one is configured and it did not fail too often. `isOpen` asks the phone whether it is unlocked.
   */
  async unlock(
    serial: string,
    shell: PhoneShell,
    { isOpen, signal }: { isOpen: () => Promise<boolean>; signal: AbortSignal },
  ): Promise<Unlocking> {
    const pin = this.#pins.get(serial) ?? this.#pins.get(everyPhone);
    if (pin === undefined) return 'no_pin';
    const failures = this.#failures.get(serial) ?? 0;
    if (failures >= maxTries) return 'given_up';
    // Counts the attempt in advance: even if the link breaks, a PIN is not typed more often.
    this.#failures.set(serial, failures + 1);
    const digits = [...pin].map((digit) => keyZero + Number(digit)).join(' ');
    await shell.run(`input keyevent ${keyWakeUp}; wm dismiss-keyguard`, signal);
    await shell.run(`input keyevent ${digits} ${keyEnter}`, signal);
    for (const until = performance.now() + openMs; performance.now() < until;) {
      if (await isOpen()) {
        this.#failures.delete(serial);
        return 'open';
      }
      await pause(pollMs, signal);
      signal.throwIfAborted();
    }
    return failures + 1 < maxTries ? 'closed' : 'given_up';
  }
}

/**
 * Reads lines with a serial number, which may contain spaces, and a PIN at the end. Skips empty lines and lines that
 * start with #.
 */
export async function loadPins(file: string): Promise<PhonePins> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SettingError(`PHALANX_PINS_FILE: ${file} can't be read (${error.code ?? 'unknown reason'}).`);
  });
  const pins = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const [, serial, pin] = /^(\S.{0,199}?)\s+(\d{4,16})$/.exec(line.trim()) ?? [];
    if (serial === undefined || pin === undefined)
      throw new SettingError(
        `PHALANX_PINS_FILE: line ${index + 1} of ${file} is no serial number (or *) and a PIN of 4 to 16 digits.`,
      );
    pins.set(serial, pin);
  }
  return new PhonePins(pins);
}
