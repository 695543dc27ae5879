import { LRUCache } from 'lru-cache';

import type { ApiError } from '../http/api-error.ts';

export interface TurnsOptions {
  /** So many at a time. */
  places: number;
  /** Of them one user may hold so many: fewer, so that one is always left for others. */
  placesPerUser: number;
  /** Who waits longer is told to come again. */
  patienceMs: number;
  /** Of one user; what comes beyond is refused at once. */
  maxWaiting: number;
  tooMany: (userId: string) => ApiError;
  tooLong: (userId: string) => ApiError;
}

interface Waiting {
  readonly grant: (release: () => void) => void;
}

interface Had {
  ms: number;
  at: number;
}

/** What was had counts half after so long. */
const halfLifeMs = 60_000;
const greedyMs = 10_000;
const presenceMs = 10;
const maxRemembered = 10_000;

/** Work that users share: of those who wait, the one who has had least of it lately gets the next turn. */
export class Turns {
  readonly #options: TurnsOptions;
  #hadByAll: Had = { ms: 0, at: 0 };
  readonly #had = new LRUCache<string, Had>({ max: maxRemembered });
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #working = new Map<string, number>();
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

  /** Whether the user has lately had more than others, who are there too, can be expected to wait for. */
  isGreedy(userId: string): boolean {
    const own = this.#hadOf(userId);
    return own > greedyMs && decayed(this.#hadByAll) - own > presenceMs;
  }

  /** Throws what the options say when too many of this user wait already, or when it takes too long. */
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
      }, this.#options.patienceMs).unref();
      this.#waiting.set(userId, [...mine, waiting]);
      this.#waitingCount += 1;
    });
  }

  #mayWork(userId: string): boolean {
    return (this.#working.get(userId) ?? 0) < this.#options.placesPerUser;
  }

  #begin(userId: string): () => void {
    this.#free -= 1;
    this.#working.set(userId, (this.#working.get(userId) ?? 0) + 1);
    const since = performance.now();
    let isHeld = true;
    return () => {
      if (isHeld) this.#end(userId, performance.now() - since);
      isHeld = false;
    };
  }

  #end(userId: string, tookMs: number): void {
    this.#free += 1;
    const left = (this.#working.get(userId) ?? 1) - 1;
    if (left === 0) this.#working.delete(userId);
    else this.#working.set(userId, left);
    const at = performance.now();
    this.#had.set(userId, { ms: this.#hadOf(userId) + tookMs, at });
    this.#hadByAll = { ms: decayed(this.#hadByAll) + tookMs, at };
    this.#next();
  }

  #next(): void {
    while (this.#free > 0) {
      const [userId] = [...this.#waiting.keys()]
        .filter((one) => this.#mayWork(one))
        .sort((one, other) => this.#hadOf(one) - this.#hadOf(other));
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

  #hadOf(userId: string): number {
    const had = this.#had.get(userId);
    return had === undefined ? 0 : decayed(had);
  }
}

const decayed = ({ ms, at }: Had): number => ms * 0.5 ** ((performance.now() - at) / halfLifeMs);
