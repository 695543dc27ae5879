/** What opens the lock screen: nothing but a swipe, or a PIN after it. */
export class LockScreen {
  readonly #pin: string | undefined;
  #typed = '';
  #asksPin = false;

  constructor(pin: string | undefined) {
    this.#pin = pin;
  }

  get hint(): string {
    if (!this.#asksPin) return 'Swipe up to open';
    return this.#typed === '' ? 'Enter PIN' : '•'.repeat(this.#typed.length);
  }

  /** Swiped upwards, or asked to go. True when it opens. */
  dismiss(): boolean {
    this.#asksPin = this.#pin !== undefined;
    return !this.#asksPin;
  }

  type(text: string): void {
    if (this.#asksPin) this.#typed += text;
  }

  /** True when the PIN was right; a wrong one is forgotten. */
  confirm(): boolean {
    const isRight = this.#asksPin && this.#typed === this.#pin;
    this.#typed = '';
    if (isRight) this.#asksPin = false;
    return isRight;
  }

  reset(): void {
    this.#typed = '';
    this.#asksPin = false;
  }
}
