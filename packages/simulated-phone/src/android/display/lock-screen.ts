export interface LockScreenOptions {
  readonly pin: string | undefined;
  /** Told when it opens, and whether by the PIN. */
  readonly onOpened: (byPin: boolean) => void;
  /** Told when it looks different. */
  readonly onChange: () => void;
}

/** What opens the lock screen: nothing but a swipe, or a PIN after it. */
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
