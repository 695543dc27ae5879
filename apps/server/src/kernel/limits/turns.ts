import type { ApiError } from '../errors/api-error.ts';

export interface TurnsOptions {
  /** Maximum concurrent work of all users. */
  places: number;
  /** Maximum places that one user holds: fewer than `places`, so that one is always left for others. */
  placesPerUser: number;
  /** Requests that wait longer are rejected with `tooLong`, which asks for a retry. */
  timeoutMs: number;
  /** Maximum waiting requests of one user; more are rejected with `tooMany` at once. */
  maxWaiting: number;
  tooMany: (userId: string) => ApiError;
  tooLong: (userId: string) => ApiError;
}

interface Waiting {
  readonly grant: (release: () => void) => void;
}

/** A fair queue for work that users share: a free place goes to the waiting user whose last turn ended first. */
export class Turns {
  readonly #options: TurnsOptions;
  /** Users in the order of their turns. */
  readonly #waiting = new Map<string, Set<Waiting>>();
  /** Number of places that each user holds. */
  readonly #held = new Map<string, number>();
  #free: number;
  #waitingCount = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#free = options.places;
  }

  get waiting(): number {
    return this.#waitingCount;
  }

  get working(): number {
    return this.#options.places - this.#free;
  }

  /** Runs `work` when it is the turn of this user. Throws `tooMany` or `tooLong` of the options when it is refused. */
  async run<Result>(userId: string, work: () => Promise<Result>): Promise<Result> {
    const release = await this.take(userId);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Resolves when it is this user's turn, with the function that ends it. */
  async take(userId: string): Promise<() => void> {
    if (this.#free > 0 && this.#mayHoldMore(userId)) return this.#begin(userId);
    const mine = this.#waiting.get(userId) ?? new Set();
    if (mine.size >= this.#options.maxWaiting) throw this.#options.tooMany(userId);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        grant: (release) => {
          clearTimeout(timer);
          resolve(release);
        },
      };
      const timer = setTimeout(() => {
        this.#remove(userId, waiting);
        reject(this.#options.tooLong(userId));
      }, this.#options.timeoutMs).unref();
      this.#waiting.set(userId, mine.add(waiting));
      this.#waitingCount += 1;
    });
  }

  #mayHoldMore(userId: string): boolean {
    return (this.#held.get(userId) ?? 0) < this.#options.placesPerUser;
  }

  #begin(userId: string): () => void {
    this.#free -= 1;
    this.#held.set(userId, (this.#held.get(userId) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.#end(userId);
      isHeld = false;
    };
  }

  #end(userId: string): void {
    this.#free += 1;
    const left = (this.#held.get(userId) ?? 1) - 1;
    if (left === 0) this.#held.delete(userId);
    else this.#held.set(userId, left);
    this.#goLast(userId);
    this.#grantPlace();
  }

  #goLast(userId: string): void {
    const mine = this.#waiting.get(userId);
    if (mine === undefined) return;
    this.#waiting.delete(userId);
    this.#waiting.set(userId, mine);
  }

  #grantPlace(): void {
    for (const [userId, [first]] of this.#waiting) {
      if (first === undefined || !this.#mayHoldMore(userId)) continue;
      this.#remove(userId, first);
      return first.grant(this.#begin(userId));
    }
  }

  #remove(userId: string, waiting: Waiting): void {
    const mine = this.#waiting.get(userId);
    mine?.delete(waiting);
    if (mine?.size === 0) this.#waiting.delete(userId);
    this.#waitingCount -= 1;
  }
}
