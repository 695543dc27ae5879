/** Callers of the cluster, who note what must not happen. */
export interface Load {
  readonly violations: readonly string[];
  /** What they have done, for the reader of the test. */
  readonly counts: Readonly<Record<string, number>>;
  /** Resolves when all callers have their last answers. */
  end(): Promise<void>;
  /** Once everything is quiet: looks whether everything is there. */
  check(): Promise<void>;
}

/** Callers that do something again and again, each until it is told to end. */
export class Callers {
  readonly #works: Promise<void>[] = [];
  #isEnding = false;

  begin(count: number, work: (caller: number) => Promise<void>): void {
    for (let caller = 0; caller < count; caller += 1) this.#works.push(this.#repeat(() => work(caller)));
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#works);
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#isEnding) await work();
  }
}
