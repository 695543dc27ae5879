/** Counts work on a terminal's standard error, in one line that is written over. */
export class Progress {
  readonly #what: string;
  readonly #total: number;
  #done = 0;

  constructor(what: string, total: number) {
    this.#what = what;
    this.#total = total;
  }

  step(): void {
    this.#done += 1;
    if (process.stderr.isTTY) process.stderr.write(`\r${this.#what} ${this.#done} of ${this.#total}`);
  }

  /** Clears the line, so that what follows stands alone. */
  end(): void {
    if (process.stderr.isTTY && this.#done > 0) process.stderr.write('\r\u001B[K');
  }
}
