import { boundedCache } from '../bounded-cache.ts';
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

interface Usage {
  ms: number;
  updatedAt: number;
}

/** Half-life of past usage. */
const halfLifeMs = 60_000;
/** Usage up to this never puts a user over their share. */
const freeMs = 10_000;
/** Users with no more usage than this are left out of the average. */
const presenceMs = 10;
const maxRemembered = 10_000;
/** Maximum users in an average, the most recent ones; older ones have nearly nothing left that counts. */
const maxCompared = 1000;

/**
 * A fair queue for work that users share: the waiting user with the lowest recent usage gets the next turn.
 * The last free place is for users who have no work in progress and are not over their share.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #usage = boundedCache<Usage>(maxRemembered);
  readonly #waiting = new Map<string, Waiting[]>();
  /** Start times of the work in progress, by user. */
  readonly #working = new Map<string, number[]>();
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

  /** Whether the user has lately had more than the average of the present users, work in progress included. */
  isOverShare(userId: string): boolean {
    const own = this.#usedMs(userId);
    return own > freeMs && own > this.#averageHad() + presenceMs;
  }

  #averageHad(): number {
    let [users, sum, compared] = [0, 0, 0];
    for (const userId of new Set([...this.#working.keys(), ...this.#usage.keys()])) {
      const ms = this.#usedMs(userId);
      if (ms > presenceMs) [users, sum] = [users + 1, sum + ms];
      compared += 1;
      if (compared >= maxCompared) break;
    }
    return users === 0 ? 0 : sum / users;
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
    if (this.#free > 0 && this.#mayWork(userId) && !this.#waiting.has(userId)) return this.#begin(userId);
    const mine = this.#waiting.get(userId) ?? [];
    if (mine.length >= this.#options.maxWaiting) throw this.#options.tooMany(userId);
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
      this.#waiting.set(userId, [...mine, waiting]);
      this.#waitingCount += 1;
    });
  }

  #mayWork(userId: string): boolean {
    const own = this.#working.get(userId)?.length ?? 0;
    const isLastPlace = this.#free === 1 && this.#options.places > 1;
    if (isLastPlace && (own > 0 || this.isOverShare(userId))) return false;
    return own < this.#options.placesPerUser;
  }

  #begin(userId: string): () => void {
    this.#free -= 1;
    const since = performance.now();
    this.#working.set(userId, [...(this.#working.get(userId) ?? []), since]);
    let isHeld = true;
    return () => {
      if (isHeld) this.#end(userId, since);
      isHeld = false;
    };
  }

  #end(userId: string, since: number): void {
    this.#free += 1;
    const usedMs = this.#usedMs(userId);
    const left = (this.#working.get(userId) ?? []).toSpliced(
      this.#working.get(userId)?.indexOf(since) ?? 0,
      1,
    );
    const at = performance.now();
    if (left.length === 0) this.#working.delete(userId);
    else this.#working.set(userId, left);
    // Work that goes on is counted by `#working` until it ends.
    this.#usage.set(userId, { ms: usedMs - sumSince(left, at), updatedAt: at });
    this.#next();
  }

  #next(): void {
    while (this.#free > 0) {
      const [userId] = [...this.#waiting.keys()]
        .filter((one) => this.#mayWork(one))
        .sort((one, other) => this.#usedMs(one) - this.#usedMs(other));
      const waiting = userId === undefined ? undefined : this.#waiting.get(userId)?.[0];
      if (userId === undefined || waiting === undefined) return;
      this.#remove(userId, waiting);
      waiting.grant(this.#begin(userId));
    }
  }

  #remove(userId: string, waiting: Waiting): void {
    const rest = (this.#waiting.get(userId) ?? []).filter((one) => one !== waiting);
    if (rest.length === 0) this.#waiting.delete(userId);
    else this.#waiting.set(userId, rest);
    this.#waitingCount -= 1;
  }

  #usedMs(userId: string): number {
    const usage = this.#usage.peek(userId);
    const inProgress = sumSince(this.#working.get(userId) ?? [], performance.now());
    return (usage === undefined ? 0 : decayed(usage)) + inProgress;
  }
}

const sumSince = (starts: readonly number[], now: number): number =>
  starts.reduce((sum, since) => sum + now - since, 0);

const decayed = ({ ms, updatedAt }: Usage): number =>
  ms * 0.5 ** ((performance.now() - updatedAt) / halfLifeMs);
