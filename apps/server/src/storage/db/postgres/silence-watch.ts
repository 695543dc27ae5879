import { setTimeout as pause } from 'node:timers/promises';

/** Time in ms after which a waiting statement causes a probe of the engine. */
const timeoutMs = 400;
const lookEveryMs = 100;
/**
 * Maximum number of checks for an answer, `lookEveryMs` apart. Counts checks instead of time, so that the engine has
 * its time even when this process stood still.
 */
const maxLooks = 9;
const silent = Symbol('silent');

interface Waiting {
  readonly since: number;
  readonly giveUp: () => void;
}

interface Options {
  /** Resolves if the engine answers, and rejects if it cannot. */
  ping: () => Promise<unknown>;
  /** Ends the statements in flight. */
  onSilence: () => void;
  silenceError: () => Error;
}

/** Bounds the wait for an unreachable engine to about 1.4 s. Leaves long work at a responsive engine alone. */
export class SilenceWatch {
  readonly #options: Options;
  readonly #waiting = new Set<Waiting>();
  #isSilent = false;
  #isClosed = false;
  #isWatching = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Runs `work`. Rejects if the engine is silent. `undo` receives a result that arrives too late. */
  async guard<Result>(work: () => Promise<Result>, undo?: (result: Result) => void): Promise<Result> {
    if (this.#isSilent) throw this.#options.silenceError();
    const { promise: givenUp, resolve } = Promise.withResolvers<typeof silent>();
    const waiting = { since: performance.now(), giveUp: () => resolve(silent) };
    this.#waiting.add(waiting);
    this.#startWatching();
    const working = work();
    try {
      const result = await Promise.race([working, givenUp]);
      if (result !== silent) return result;
    } finally {
      this.#waiting.delete(waiting);
    }
    working.then(undo, () => undefined);
    throw this.#options.silenceError();
  }

  /** Stops the watch. */
  close(): void {
    this.#isClosed = true;
  }

  async #watch(): Promise<void> {
    while (!this.#isClosed && (this.#waiting.size > 0 || this.#isSilent)) {
      await pause(lookEveryMs, undefined, { ref: false });
      if (this.#isSilent || this.#isLate()) await this.#ask();
    }
  }

  /** Whether the oldest work is late. The set keeps the order of arrival. */
  #isLate(): boolean {
    const [oldest] = this.#waiting;
    return oldest !== undefined && performance.now() - oldest.since > timeoutMs;
  }

  async #ask(): Promise<void> {
    const isAlive = await this.#isAnswered();
    this.#isSilent = !isAlive;
    if (isAlive) return;
    for (const { giveUp } of this.#waiting) giveUp();
    this.#options.onSilence();
  }

  #startWatching(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    void this.#watch().finally(() => {
      this.#isWatching = false;
    });
  }

  async #isAnswered(): Promise<boolean> {
    const answer: { isAlive?: boolean } = {};
    this.#options.ping().then(
      () => (answer.isAlive = true),
      () => (answer.isAlive = false),
    );
    for (let looks = 0; looks < maxLooks && answer.isAlive === undefined; looks += 1)
      await pause(lookEveryMs, undefined, { ref: false });
    return answer.isAlive === true;
  }
}
