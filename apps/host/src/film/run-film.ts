import { createHash } from 'node:crypto';
import { type FilmPictureAbout, maxCaptureBytes, maxFilmPictures } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { ServiceClock } from '../connection/service-clock.ts';
import type { TakenPicture } from '../driver/pictures/taken-picture.ts';
import type { RecordLimits } from '../records/record-limits.ts';
import { pause } from '../time/time-limit.ts';

/** Between two pictures, when nothing is done to the phone. */
const everyMs = 1000;
/** The same after a call that may have changed the screen. */
const afterCallMs = 500;
/** How often a film that waits looks whether there was such a call. */
const lookMs = 100;

interface RunFilmOptions {
  runId: string;
  /** Undefined when the phone has something else to do, or its screen moves too much. */
  take: (signal: AbortSignal) => Promise<TakenPicture | undefined>;
  /** False when it can't be kept now. */
  keep: (about: FilmPictureAbout, jpeg: Buffer) => Promise<boolean>;
  /** All pictures together. */
  maxBytes: number;
  limits: Pick<RecordLimits, 'pictureMs' | 'lastLookMs'>;
  clock: ServiceClock;
  log: Logger;
}

/**
 * The film of one run: pictures of its screen from its first line to its end. A screen that has not changed since the
 * last picture is not kept again.
 */
export class RunFilm {
  readonly #options: RunFilmOptions;
  readonly #ended = new AbortController();
  #work: Promise<void> = Promise.resolve();
  #pictures = 0;
  #bytes = 0;
  #lastHash = '';
  #lastEndMs = -Infinity;
  #tookMs = 0;
  #isTouched = false;
  #hasFailed = false;

  constructor(options: RunFilmOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#work = this.#run();
  }

  /** A call may have changed the screen: the next picture comes sooner. */
  touched(): void {
    this.#isTouched = true;
  }

  /** Takes the last picture. Resolves when nothing is taken any more. */
  async end(): Promise<void> {
    this.#ended.abort();
    await this.#work;
    await this.#take(AbortSignal.timeout(this.#options.limits.lastLookMs));
  }

  /** The same without a last picture. */
  async cut(): Promise<void> {
    this.#ended.abort();
    await this.#work;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted && this.#room > 0) {
      await this.#take(AbortSignal.any([signal, AbortSignal.timeout(this.#options.limits.pictureMs)]));
      while (!signal.aborted && performance.now() < this.#dueMs)
        await pause(Math.min(lookMs, this.#dueMs - performance.now()), signal);
    }
  }

  /** What is left of the film, from 1 to 0. */
  get #room(): number {
    return 1 - Math.max(this.#bytes / this.#options.maxBytes, this.#pictures / maxFilmPictures);
  }

  /**
   * The fuller the film, the more seldom its pictures: a long run has some to its end. And a phone that is slow at them
   * takes pictures for half of its time at most.
   */
  get #dueMs(): number {
    const waitMs = (this.#isTouched ? afterCallMs : everyMs) / this.#room;
    return this.#lastEndMs + Math.max(waitMs, this.#tookMs);
  }

  async #take(signal: AbortSignal): Promise<void> {
    const beganMs = performance.now();
    this.#isTouched = false;
    try {
      const taken = await this.#options.take(signal);
      const takenAt = Date.now();
      // The phone was busy: the next try comes sooner.
      if (taken === undefined) this.#isTouched = true;
      // One that is given up may still come.
      if (taken !== undefined && !signal.aborted) await this.#keep(taken, takenAt);
    } catch (error) {
      this.#failed(error);
    }
    this.#lastEndMs = performance.now();
    this.#tookMs = this.#lastEndMs - beganMs;
  }

  async #keep(taken: TakenPicture, takenAt: number): Promise<void> {
    const { data, width, height } = await taken.finish();
    const hash = createHash('sha1').update(data).digest('base64url');
    const bytes = this.#bytes + data.byteLength;
    const fits = data.byteLength <= maxCaptureBytes && bytes <= this.#options.maxBytes;
    if (hash === this.#lastHash || !fits || this.#pictures >= maxFilmPictures) return;
    const number = this.#pictures + 1;
    const taken_at = Math.round(this.#options.clock.toService(takenAt));
    if (!(await this.#options.keep({ number, taken_at, width, height }, data))) return;
    this.#lastHash = hash;
    this.#pictures = number;
    this.#bytes = bytes;
  }

  /** A black screen and a phone that is away for a moment are common, so one line has to do. */
  #failed(error: unknown): void {
    if (this.#hasFailed || this.#ended.signal.aborted) return;
    this.#hasFailed = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#options.log.info({ runId: this.#options.runId, reason }, 'A picture of a film could not be taken');
  }
}
