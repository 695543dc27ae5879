/** Lock of a connection, with one holder at a time, in the order of their requests. */
export class ConnectionLock {
  readonly #waiting: (() => void)[] = [];
  #isHeld = false;

  async take(): Promise<void> {
    if (this.#isHeld) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#isHeld = true;
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isHeld = false;
    else next();
  }
}
