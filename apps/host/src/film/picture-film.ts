import type { ServiceClock } from '../connection/service-clock.ts';
import { pictureDigest } from '../driver/pictures/picture-digest.ts';
import type { TakenPicture } from '../driver/pictures/taken-picture.ts';
import type { RecordLimits } from '../records/record-limits.ts';
import type { HostTimings } from '../time/host-timings.ts';
import { pause } from '../time/time-limit.ts';
import type { FilmFailures } from './film-failures.ts';
import type { FilmParts } from './film-parts.ts';

/** Maximum number of attempts to take the last picture of a screen that changes by itself. */
const maxLastLooks = 4;
/** Maximum length of the reason that a picture carries, in characters. */
const maxReasonLength = 300;

interface PictureFilmOptions {
  parts: FilmParts;
  failures: FilmFailures;
  /** Takes a picture. Returns undefined when the phone is busy or when its screen moves too much. */
  take: (signal: AbortSignal) => Promise<TakenPicture | undefined>;
  limits: Pick<RecordLimits, 'pictureMs' | 'lastLookMs'>;
  timings: Pick<HostTimings, 'filmPictureMs' | 'filmAfterCallMs' | 'filmPollMs'>;
  clock: ServiceClock;
}

/** Takes pictures of a run's screen. A picture that equals the previous one is not stored. */
export class PictureFilm {
  readonly #options: PictureFilmOptions;
  #lastDigest = '';
  #lastEndMs = -Infinity;
  #tookMs = 0;
  #isTouched = false;

  constructor(options: PictureFilmOptions) {
    this.#options = options;
  }

  /** Brings the next picture forward after a call that may have changed the screen. */
  touch(): void {
    this.#isTouched = true;
  }

  /** Takes pictures until the signal aborts. `noVideo` is the reason for pictures instead of a video. */
  async record(noVideo: string, signal: AbortSignal): Promise<void> {
    const { parts, limits, timings } = this.#options;
    while (!signal.aborted && parts.room > 0) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(limits.pictureMs)]);
      await this.#take(noVideo, limit);
      while (!signal.aborted && performance.now() < this.#dueMs) await pause(timings.filmPollMs, signal);
    }
  }

  /** Takes the last picture of the film. */
  async takeLast(noVideo: string | undefined): Promise<void> {
    const signal = AbortSignal.timeout(this.#options.limits.lastLookMs);
    for (let looks = 1; looks <= maxLastLooks && !(await this.#take(noVideo, signal)); looks += 1);
  }

  /**
   * Time at which the next picture is due. The interval grows as the film fills up, so that a long run has pictures to
   * its end. A slow phone spends at most half of its time on pictures.
   */
  get #dueMs(): number {
    const { parts, timings } = this.#options;
    const waitMs = (this.#isTouched ? timings.filmAfterCallMs : timings.filmPictureMs) / parts.room;
    return this.#lastEndMs + Math.max(waitMs, this.#tookMs);
  }

  /** Returns false when a retry may help. */
  async #take(noVideo: string | undefined, signal: AbortSignal): Promise<boolean> {
    const beganMs = performance.now();
    this.#isTouched = false;
    let isOver = true;
    try {
      const taken = await this.#options.take(signal);
      const takenAt = Date.now();
      isOver = taken !== undefined || signal.aborted;
      // The phone was busy, so the next attempt comes sooner.
      if (taken === undefined) this.#isTouched = true;
      // A picture can still arrive after its timeout; it is dropped.
      if (taken !== undefined && !signal.aborted) await this.#keep(taken, takenAt, noVideo);
    } catch (error) {
      if (!signal.aborted) this.#options.failures.note(error);
    }
    this.#lastEndMs = performance.now();
    this.#tookMs = this.#lastEndMs - beganMs;
    return isOver;
  }

  async #keep(taken: TakenPicture, takenAt: number, noVideo: string | undefined): Promise<void> {
    const { data, width, height } = await taken.finish();
    const digest = pictureDigest(data);
    if (digest === this.#lastDigest) return;
    const taken_at = Math.round(this.#options.clock.toService(takenAt));
    const reason = noVideo === undefined ? {} : { no_video: noVideo.slice(0, maxReasonLength) };
    if (await this.#options.parts.keep({ taken_at, width, height, ...reason }, data))
      this.#lastDigest = digest;
  }
}
