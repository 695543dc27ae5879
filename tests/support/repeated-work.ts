/** Repeats work, in one or several parallel loops, until it is ended. */
export class RepeatedWork {
  readonly #works: Promise<void>[] = [];
  #isEnding = false;

  begin(count: number, work: () => Promise<void>): void {
    for (let no = 0; no < count; no += 1) this.#works.push(this.#repeat(work));
  }

  /** Resolves when the work in flight is done. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#works);
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#isEnding) await work();
  }
}
