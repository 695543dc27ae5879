import { setTimeout as sleep } from 'node:timers/promises';
import { RateLimiter } from './rate-limiter.ts';
import type { RequestsUnderWay } from './requests-under-way.ts';

/** Of what a user's hosts may send for as long as they like. */
const undisturbedShare = 0.1;
/** Of the event loop's time, for all users together who send more, while there are requests. */
const pacedShare = 0.25;
/** Who works step by step asks for something, and has a look at it. */
const cachedMs = 250;
/** What is stored together has been by then, and is accounted for. */
const leastPauseMs = 5;

/** Resolves when what was noted of the user is balanced. */
export type Pace = () => Promise<void>;

/**
 * Reading what hosts say, and storing log entries, is work of the event loop, where every request waits behind it. Who sends much
 * gets, while there are requests, a share of its time, in short pieces; where nobody asks for anything, nothing waits.
 */
export class HostFrameScheduler {
  readonly #undisturbed: RateLimiter;
  readonly #requests: RequestsUnderWay;
  /** Of each user who is paced: the work that was begun last. */
  readonly #last = new Map<string, Promise<void>>();
  /** Time of the event loop that was taken and not balanced yet, in ms. */
  readonly #taken = new Map<string, number>();

  constructor(bytesPerSecond: number, requests: RequestsUnderWay) {
    this.#undisturbed = new RateLimiter({ perSecond: bytesPerSecond * undisturbedShare, burstSeconds: 1 });
    this.#requests = requests;
  }

  /** Runs `read` on a frame of so many bytes: at once, or after the user's earlier ones and with a pace to keep. */
  pass<Read>(userId: string, bytes: number, read: (pace?: Pace) => Promise<Read>): Promise<Read> {
    const before = this.#last.get(userId);
    if (before === undefined && !this.#disturbs(userId, bytes)) return read();
    const work = (before ?? Promise.resolve()).then(() => read(() => this.#pause(userId)));
    const last = work
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        if (this.#last.get(userId) === last) this.#forget(userId);
      });
    this.#last.set(userId, last);
    return work;
  }

  /** Whether anybody keeps a pace, and so has to be accounted for. */
  get isPacing(): boolean {
    return this.#last.size > 0;
  }

  /** Time of the event loop that the user's frames have taken. */
  note(userId: string, ms: number): void {
    if (this.#last.has(userId)) this.#taken.set(userId, (this.#taken.get(userId) ?? 0) + ms);
  }

  #disturbs(userId: string, bytes: number): boolean {
    return this.#undisturbed.spend(userId, bytes) > 0 && this.#requests.wereAnyWithin(cachedMs);
  }

  async #pause(userId: string): Promise<void> {
    const takenMs = this.#taken.get(userId) ?? 0;
    this.#taken.delete(userId);
    if (!this.#requests.wereAnyWithin(cachedMs)) return;
    const share = pacedShare / this.#last.size;
    await sleep(Math.max(leastPauseMs, takenMs / share - takenMs));
  }

  #forget(userId: string): void {
    this.#last.delete(userId);
    this.#taken.delete(userId);
  }
}
