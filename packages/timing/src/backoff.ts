interface BackoffOptions {
  /** Pause before the first retry. */
  readonly firstMs: number;
  /** Growth of each further pause. */
  readonly factor?: number;
  readonly maxMs?: number;
  /** Random deviation of a pause, as a share of it, so that work that failed together is not retried together. */
  readonly jitter: number;
}

/** Returns the pause before the next retry after that number of attempts. `random`: from 0 to 1. */
export const backoffMs = (
  { firstMs, factor = 2, maxMs = Infinity, jitter }: BackoffOptions,
  attempts: number,
  random?: number,
): number => withJitter(Math.min(maxMs, firstMs * factor ** (attempts - 1)), jitter, random);

/** Returns a pause that is shorter or longer by up to the share `jitter`. */
export const withJitter = (ms: number, jitter: number, random = Math.random()): number =>
  Math.round(ms * (1 - jitter + 2 * jitter * random));

/** Pauses between the attempts of one piece of work, with exponential backoff. */
export class Backoff {
  readonly #options: BackoffOptions;
  #attempts = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Returns the pause before the next attempt, in milliseconds. */
  nextMs(): number {
    this.#attempts += 1;
    return backoffMs(this.#options, this.#attempts);
  }

  /** Begins with the first pause again. Call it after a success. */
  reset(): void {
    this.#attempts = 0;
  }
}
