import { Allowance } from './allowance.ts';
import type { RequestsUnderWay } from './requests-under-way.ts';

/** Of what a user's hosts may send for as long as they like. */
const undisturbedShare = 0.25;

/**
 * Reading log entries is work of the event loop, where every request waits behind it. Who sends much of them does so
 * between the requests; while there are always some, at a quarter of the rate and once more as much, one frame at a time.
 */
export class LogCourtesy {
  readonly #bytesPerMs: number;
  readonly #undisturbed: Allowance;
  readonly #requests: RequestsUnderWay;
  readonly #last = new Map<string, Promise<void>>();

  constructor(bytesPerSecond: number, requests: RequestsUnderWay) {
    const perSecond = bytesPerSecond * undisturbedShare;
    this.#bytesPerMs = perSecond / 1000;
    this.#undisturbed = new Allowance({ perSecond, burstSeconds: 1 });
    this.#requests = requests;
  }

  /** Resolves when a frame of so many bytes may be read. */
  async wait(userId: string, bytes: number): Promise<void> {
    const before = this.#last.get(userId);
    if (before === undefined && this.#undisturbed.spend(userId, bytes) === 0) return;
    const turn = (before ?? Promise.resolve()).then(() =>
      this.#requests.waitForNone(bytes / this.#bytesPerMs),
    );
    this.#last.set(userId, turn);
    await turn;
    if (this.#last.get(userId) === turn) this.#last.delete(userId);
  }
}
