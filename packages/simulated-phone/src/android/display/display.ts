import type { Settings } from '../settings.ts';
import type { Battery } from '../battery.ts';

/** The display's sizes in pixels and its density in dots per inch. */
export interface Display {
  readonly width: number;
  readonly height: number;
  readonly density: number;
}

export const statusBarHeightDp = 30;
export const navigationBarHeightDp = 48;

export function toPixels(display: Display, dp: number): number {
  return Math.round((dp * display.density) / 160);
}

/** Size, density and rotation of the display. */
export class DisplayMode {
  readonly physical: Display;
  readonly #settings: Settings;
  #upright: Display;

  constructor(physical: Display, settings: Settings) {
    this.physical = physical;
    this.#upright = physical;
    this.#settings = settings;
  }

  /** The display as it is rotated now. */
  get current(): Display {
    if (this.rotation % 2 === 0) return this.#upright;
    return { ...this.#upright, width: this.#upright.height, height: this.#upright.width };
  }

  /** Quarter turns; with the sensor on, a phone on a desk stays upright. */
  get rotation(): number {
    const table = this.#settings.findTable('system');
    return table?.get('accelerometer_rotation') === '0' ? Number(table.get('user_rotation') ?? 0) % 4 : 0;
  }

  resize(display: Display): void {
    this.#upright = display;
  }
}

/** The display: on or off, awake for as long as something holds it, locked by its key or its time-out. */
export class DisplayPower {
  readonly #settings: Settings;
  readonly #battery: Battery;
  #isOn = true;
  #isLocked = false;
  #usedAt = performance.now();
  #heldUntil = 0;

  constructor(settings: Settings, battery: Battery) {
    this.#settings = settings;
    this.#battery = battery;
  }

  get isOn(): boolean {
    this.#timeOut();
    return this.#isOn;
  }

  get isLocked(): boolean {
    this.#timeOut();
    return this.#isLocked;
  }

  /** A wake lock of an app; 0 gives it back. */
  hold(durationMs: number): void {
    this.#timeOut();
    this.#heldUntil = durationMs > 0 ? performance.now() + durationMs : 0;
    this.used();
  }

  /** Somebody touched the screen or pressed a key. */
  used(): void {
    this.#usedAt = performance.now();
  }

  setOn(isOn: boolean): void {
    this.#isOn = isOn;
    if (!isOn) this.#isLocked = true;
    this.used();
  }

  lock(): void {
    this.#isLocked = true;
  }

  unlock(): void {
    this.#isLocked = false;
    this.used();
  }

  #timeOut(): void {
    if (!this.#isOn || this.#isHeld()) return;
    const timeoutMs = Number(this.#settings.findTable('system')?.get('screen_off_timeout') ?? 600_000);
    if (performance.now() - Math.max(this.#usedAt, this.#heldUntil) < timeoutMs) return;
    this.#isOn = false;
    this.#isLocked = true;
  }

  #isHeld(): boolean {
    const staysOn = Number(this.#settings.findTable('global')?.get('stay_on_while_plugged_in') ?? 0) !== 0;
    return performance.now() < this.#heldUntil || (staysOn && this.#battery.isPlugged);
  }
}

interface LockScreenOptions {
  readonly pin: string | undefined;
  /** Told when it opens, and whether by the PIN. */
  readonly onOpened: (byPin: boolean) => void;
  /** Told when it looks different. */
  readonly onChange: () => void;
}

/** The lock screen: opened by a swipe, or by a swipe and a PIN. */
export class LockScreen {
  readonly #options: LockScreenOptions;
  #typed = '';
  #asksPin = false;

  constructor(options: LockScreenOptions) {
    this.#options = options;
  }

  get hasPin(): boolean {
    return this.#options.pin !== undefined;
  }

  get hint(): string {
    if (!this.#asksPin) return 'Swipe up to open';
    return this.#typed === '' ? 'Enter PIN' : '•'.repeat(this.#typed.length);
  }

  /** Swiped upwards, or asked to go: with a PIN, the phone asks for it. */
  dismiss(): void {
    this.#asksPin = this.hasPin;
    if (!this.#asksPin) this.#options.onOpened(false);
    this.#options.onChange();
  }

  type(text: string): void {
    if (this.#asksPin) this.#typed += text;
    this.#options.onChange();
  }

  /** A wrong PIN is forgotten. */
  confirm(): void {
    const isRight = this.#asksPin && this.#typed === this.#options.pin;
    this.#typed = '';
    if (isRight) {
      this.#asksPin = false;
      this.#options.onOpened(true);
    }
    this.#options.onChange();
  }

  reset(): void {
    this.#typed = '';
    this.#asksPin = false;
  }
}
