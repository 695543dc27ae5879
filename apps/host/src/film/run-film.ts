import type { FilmPartAbout, VideoPlace } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { ServiceClock } from '../connection/service-clock.ts';
import type { TakenPicture } from '../driver/pictures/taken-picture.ts';
import type { NoVideo, VideoPackets } from '../driver/video/screen-video.ts';
import type { RecordLimits } from '../records/record-limits.ts';
import type { HostTimings } from '../time/host-timings.ts';
import { FilmFailures } from './film-failures.ts';
import { FilmParts } from './film-parts.ts';
import { PictureFilm } from './picture-film.ts';
import { VideoFilm } from './video-film.ts';

const noFilm = 'the run was launched without a film: this is its last screen';

interface RunFilmOptions {
  runId: string;
  /** Takes a picture. Returns undefined when the phone is busy or when its screen moves too much. */
  take: (signal: AbortSignal) => Promise<TakenPicture | undefined>;
  /** Waits a limited time for packets after the given place. */
  video: (after: VideoPlace | null, signal: AbortSignal) => Promise<VideoPackets | NoVideo>;
  /** Stores a part for the server. Returns false when it can't be stored now. */
  keep: (about: FilmPartAbout, content: Buffer) => Promise<boolean>;
  /** Maximum size of the whole film, in bytes. */
  maxBytes: number;
  limits: Pick<RecordLimits, 'pictureMs' | 'lastLookMs'>;
  timings: HostTimings;
  clock: ServiceClock;
  log: Logger;
}

/**
 * Film of one run, from its first line to its end. It is a video when the phone can make one at the start of the run,
 * else pictures; a picture of the last screen follows. A film that never starts consists of the last picture only.
 */
export class RunFilm {
  readonly #video: VideoFilm;
  readonly #pictures: PictureFilm;
  readonly #ended = new AbortController();
  #work: Promise<unknown> = Promise.resolve();
  /** Reason why the last picture replaces a video; undefined after a video. */
  #noVideo: string | undefined = noFilm;
  #isUsed = false;

  constructor({ runId, take, video, keep, maxBytes, limits, timings, clock, log }: RunFilmOptions) {
    const common = {
      parts: new FilmParts({ keep, maxBytes }),
      failures: new FilmFailures(log, runId),
      clock,
    };
    this.#video = new VideoFilm({ ...common, video, timings });
    this.#pictures = new PictureFilm({ ...common, take, limits, timings });
  }

  /** Whether the run has called its phone. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  begin(): void {
    this.#work = this.#record(Date.now());
  }

  /** Records a call of the run to its phone. */
  called({ mayChange }: { mayChange: boolean }): void {
    this.#isUsed = true;
    if (mayChange) this.#pictures.touch();
  }

  /** Ends the film with a picture of the last screen. */
  async end(): Promise<void> {
    await this.cut();
    await this.#pictures.takeLast(this.#noVideo);
  }

  /** Ends the film without a last picture. */
  async cut(): Promise<void> {
    this.#ended.abort();
    await this.#work;
  }

  async #record(beganAt: number): Promise<void> {
    const { signal } = this.#ended;
    this.#noVideo = await this.#video.start(signal);
    if (signal.aborted) return;
    if (this.#noVideo !== undefined) return this.#pictures.record(this.#noVideo, signal);
    await this.#video.record(beganAt, signal);
    this.#noVideo = this.#video.noVideo;
  }
}
