import type { TakenPicture } from '../driver/pictures/taken-picture.ts';
import { pause } from '../time/time-limit.ts';

type Take = () => Promise<TakenPicture | undefined>;

interface Waiting {
  take: Take;
  answer: PromiseWithResolvers<TakenPicture | undefined>;
}

/**
 * The pictures of one run: one is under way at most and one waits. A newer one takes the place of the one that waits,
 * because it is more likely to show the screen of its tree.
 */
export class PictureLane {
  #isBusy = false;
  #waiting: Waiting | undefined;
  #hasRoom = Promise.withResolvers<void>();

  /** Resolves with nothing when the picture failed or lost its place. */
  take(take: Take): Promise<TakenPicture | undefined> {
    this.#waiting?.answer.resolve(undefined);
    const answer = Promise.withResolvers<TakenPicture | undefined>();
    this.#waiting = { take, answer };
    void this.#work();
    return answer.promise;
  }

  /** Resolves when a picture would cost no other one its place, or after `limitMs`. */
  async whenRoom(limitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#waiting === undefined) return;
    const waited = new AbortController();
    await Promise.race([this.#hasRoom.promise, pause(limitMs, AbortSignal.any([signal, waited.signal]))]);
    waited.abort();
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#next(); next !== undefined; next = this.#next())
      next.answer.resolve(await next.take().catch(() => undefined));
    this.#isBusy = false;
  }

  #next(): Waiting | undefined {
    const next = this.#waiting;
    this.#waiting = undefined;
    this.#hasRoom.resolve();
    this.#hasRoom = Promise.withResolvers();
    return next;
  }
}
