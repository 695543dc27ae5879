import { setTimeout as pause } from 'node:timers/promises';
import { RateLimiter } from './rate-limiter.ts';
import type { RequestsUnderWay } from './requests-under-way.ts';

/** Share of the rate limit that the hosts of one user may always send without a pace. */
const undisturbedShare = 0.1;
/** Share of the event loop's time for all paced users together, while there are requests. */
const pacedShare = 0.25;
/** Time for which a request still counts: a user who works step by step looks at each answer first. */
const activeMs = 250;
/** Minimum pause: by its end, a group of writes is stored and accounted for. */
const leastPauseMs = 5;

/** Resolves when the time that was noted for the user is balanced by a pause. */
export type Pace = () => Promise<void>;

/**
 * Throttles the frames of hosts. To read them and to store log entries is work of the event loop, and every request
 * waits behind it. While there are requests, users who send much get a share of its time, in short pieces. Without
 * requests, no frame waits.
 */
export class HostFrameScheduler {
  readonly #undisturbed: RateLimiter;
  readonly #requests: RequestsUnderWay;
  /** Newest work of each user who is paced. */
  readonly #last = new Map<string, Promise<void>>();
  /** Event-loop time that each user has taken and not balanced yet, in ms. */
  readonly #taken = new Map<string, number>();

  constructor(bytesPerSecond: number, requests: RequestsUnderWay) {
    this.#undisturbed = new RateLimiter({ perSecond: bytesPerSecond * undisturbedShare, burstSeconds: 1 });
    this.#requests = requests;
  }

  /** Runs `read` on a frame of `bytes` bytes: at once, or after the user's earlier frames and with a pace to keep. */
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

  /** Notes event-loop time that the user's frames have taken. */
  note(userId: string, ms: number): void {
    if (this.#last.has(userId)) this.#taken.set(userId, (this.#taken.get(userId) ?? 0) + ms);
  }

  #disturbs(userId: string, bytes: number): boolean {
    return this.#undisturbed.spend(userId, bytes) > 0 && this.#requests.wereAnyWithin(activeMs);
  }

  async #pause(userId: string): Promise<void> {
    const takenMs = this.#taken.get(userId) ?? 0;
    this.#taken.delete(userId);
    if (!this.#requests.wereAnyWithin(activeMs)) return;
    const share = pacedShare / this.#last.size;
    await pause(Math.max(leastPauseMs, takenMs / share - takenMs));
  }

  #forget(userId: string): void {
    this.#last.delete(userId);
    this.#taken.delete(userId);
  }
}
