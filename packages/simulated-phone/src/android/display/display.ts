import type { Settings } from '../settings.ts';
import type { Battery } from '../battery.ts';

/** Size of the display in pixels and its density in dots per inch. */
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

  /** Returns the display in its current rotation. */
  get current(): Display {
    if (this.rotation % 2 === 0) return this.#upright;
    return { ...this.#upright, width: this.#upright.height, height: this.#upright.width };
  }

  /** Rotation in quarter turns. With the sensor on, the phone counts as upright. */
  get rotation(): number {
    const table = this.#settings.findTable('system');
    return table?.get('accelerometer_rotation') === '0' ? Number(table.get('user_rotation') ?? 0) % 4 : 0;
  }

  resize(display: Display): void {
    this.#upright = display;
  }
}

/** Power state of the display: on or off, kept awake by wake locks, locked by key or time-out. */
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

  /** Holds a wake lock for an app; 0 releases it. */
  hold(durationMs: number): void {
    this.#timeOut();
    this.#heldUntil = durationMs > 0 ? performance.now() + durationMs : 0;
    this.used();
  }

  /** Restarts the screen time-out after a touch or a key. */
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
  /** Called when it opens, with whether the PIN opened it. */
  readonly onOpened: (byPin: boolean) => void;
  /** Called when its appearance changes. */
  readonly onChange: () => void;
}

/** Lock screen, opened by a swipe, or by a swipe and a PIN. */
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

  /** Dismisses the lock screen, as an upward swipe does. With a PIN, it asks for the PIN. */
  dismiss(): void {
    this.#asksPin = this.hasPin;
    if (!this.#asksPin) this.#options.onOpened(false);
    this.#options.onChange();
  }

  type(text: string): void {
    if (this.#asksPin) this.#typed += text;
    this.#options.onChange();
  }

  /** Confirms the typed PIN. A wrong one is cleared. */
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
