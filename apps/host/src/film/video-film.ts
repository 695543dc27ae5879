import { errorText } from '@phalanx/settings';
import type { VideoPlace } from '@phalanx/protocol';

import type { ServiceClock } from '../connection/service-clock.ts';
import type { VideoPacket } from '../driver/video/run-scrcpy.ts';
import { type NoVideo, startingVideo, type VideoPackets } from '../driver/video/screen-video.ts';
import type { HostTimings } from '../time/host-timings.ts';
import { pause } from '../time/time-limit.ts';
import type { FilmFailures } from './film-failures.ts';
import type { FilmParts } from './film-parts.ts';
import { VideoStretch } from './video-stretch.ts';

const noRoom = 'the video of the film has reached its limit';
/** Bytes that the video leaves free for the last picture of the film. */
const lastPictureBytes = 200_000;

interface VideoFilmOptions {
  parts: FilmParts;
  failures: FilmFailures;
  /** Waits a limited time for packets after the given place. */
  video: (after: VideoPlace | null, signal: AbortSignal) => Promise<VideoPackets | NoVideo>;
  timings: Pick<HostTimings, 'filmPollMs' | 'filmStretchMs' | 'maxFilmStretchMs' | 'filmStartMs'>;
  clock: ServiceClock;
}

/**
 * Records a run's screen as video, in stretches of some seconds. The video has a gap while a mask is active or the
 * phone is away.
 */
export class VideoFilm {
  readonly #options: VideoFilmOptions;
  #after: VideoPlace | null = null;
  #stretch: VideoStretch | undefined;
  /** Start of the stretch, on the service's clock. */
  #stretchBeganAt = 0;
  /** Last time at which the video was known to match the screen. */
  #shownAt = 0;
  #isFull = false;
  #noVideo: string | undefined;

  constructor(options: VideoFilmOptions) {
    this.#options = options;
  }

  /** Reason why there is no video now; undefined while there is. */
  get noVideo(): string | undefined {
    return this.#noVideo;
  }

  /**
   * Waits until the encoder has started. Returns the reason when no video is possible; undefined when recording works.
   */
  async start(signal: AbortSignal): Promise<string | undefined> {
    const { filmPollMs, filmStartMs } = this.#options.timings;
    const giveUpAt = performance.now() + filmStartMs;
    for (;;) {
      const found = await this.#nextPackets(signal);
      this.#noVideo = 'reason' in found ? found.reason : undefined;
      const isStarting = this.#noVideo === startingVideo && performance.now() < giveUpAt;
      if (!isStarting || signal.aborted) return this.#noVideo;
      await pause(filmPollMs, signal);
    }
  }

  /** Records until the signal aborts. Drops packets from before `beganAt` (epoch milliseconds). */
  async record(beganAt: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const found = await this.#nextPackets(signal);
      if (signal.aborted) break;
      this.#noVideo = 'reason' in found ? found.reason : undefined;
      if ('reason' in found) {
        await this.#goOnWith(undefined);
        await pause(this.#options.timings.filmPollMs, signal);
      } else await this.#addPackets(found, beganAt);
    }
    await this.#goOnWith(undefined);
  }

  get #freeBytes(): number {
    return this.#isFull ? 0 : this.#options.parts.freeBytes - lastPictureBytes;
  }

  async #nextPackets(signal: AbortSignal): Promise<VideoPackets | NoVideo> {
    if (this.#freeBytes <= 0) return { reason: noRoom };
    return this.#options.video(this.#after, signal).catch((error: unknown) => ({
      reason: errorText(error),
    }));
  }

  /** Adds packets of the run. The video begins at its first key packet. */
  async #addPackets({ first, packets }: VideoPackets, beganAt: number): Promise<void> {
    if (first.stream !== this.#after?.stream) await this.#goOnWith(undefined);
    this.#shownAt = Date.now();
    if (this.#stretch?.isOverAt(this.#shownAt) === true && packets.length === 0)
      await this.#goOnWith(undefined);
    for (const packet of packets) if (packet.takenAt >= beganAt) await this.#addPacket(packet);
    if (packets.length > 0) this.#after = { stream: first.stream, number: first.number + packets.length - 1 };
  }

  async #addPacket(packet: VideoPacket): Promise<void> {
    if (this.#stretch?.add(packet) === true) return;
    if (!packet.isKey) return this.#goOnWith(undefined);
    const room = this.#freeBytes - (this.#stretch?.sizeBytes ?? 0);
    const next = new VideoStretch(packet, room, this.#options.timings);
    const fits = next.add(packet);
    this.#isFull ||= !fits;
    return this.#goOnWith(fits ? next : undefined, packet.takenAt);
  }

  /** Stores the current stretch and starts the next one. */
  async #goOnWith(next: VideoStretch | undefined, endsAt = this.#shownAt): Promise<void> {
    const { parts, failures, clock } = this.#options;
    const [stretch, taken_at] = [this.#stretch, this.#stretchBeganAt];
    const endedAt = stretch?.endedAt(endsAt) ?? endsAt;
    const ended_at = Math.round(clock.toService(endedAt));
    this.#stretch = next;
    // Uses one value for the end and the next start, because the offset to the service's clock changes with time.
    this.#stretchBeganAt = ended_at;
    if (stretch === undefined) return;
    try {
      const { width, height } = stretch.first;
      await parts.keep({ taken_at, ended_at, width, height }, await stretch.file(endedAt));
    } catch (error) {
      failures.note(error);
    }
  }
}
