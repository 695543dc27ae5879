import { createHash } from 'node:crypto';

import { type FilmPartAbout, maxCaptureBytes, maxFilmParts, type VideoPlace } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { ServiceClock } from '../connection/service-clock.ts';
import type { TakenPicture } from '../driver/pictures/taken-picture.ts';
import type { VideoPacket } from '../driver/video/run-scrcpy.ts';
import {
  type NoVideo,
  startingVideo,
  type VideoPackets,
  isOfSameForm,
} from '../driver/video/screen-video.ts';
import type { RecordLimits } from '../records/record-limits.ts';
import type { HostTimings } from '../time/host-timings.ts';
import { pause } from '../time/time-limit.ts';

/** Share of the video in all bytes. The rest is for pictures, so that a long run has a film to its end. */
const videoShare = 0.8;
const noRoom = 'the video of the film has reached its limit';
const noFilm = 'the run was launched without a film: this is its last screen';
/** Maximum number of tries for the last picture of a screen that changes by itself. */
const maxLastLooks = 4;
const maxReasonLength = 300;

type FilmTimings = Pick<
  HostTimings,
  'filmPictureMs' | 'filmAfterCallMs' | 'filmPollMs' | 'filmStretchMs' | 'maxFilmStretchMs'
>;

interface RunFilmOptions {
  runId: string;
  /** Undefined when the phone has something else to do, or its screen moves too much. */
  take: (signal: AbortSignal) => Promise<TakenPicture | undefined>;
  /** Waits for packets after that place, some time at most. */
  video: (after: VideoPlace | null, signal: AbortSignal) => Promise<VideoPackets | NoVideo>;
  /** False when it can't be kept now. */
  keep: (about: FilmPartAbout, content: Buffer) => Promise<boolean>;
  /** Maximum size of the whole film, in bytes. */
  maxBytes: number;
  limits: Pick<RecordLimits, 'pictureMs' | 'lastLookMs'>;
  timings: FilmTimings;
  clock: ServiceClock;
  log: Logger;
}

/** A part of the film as far as it is known before its turn to be kept. */
type Part = Omit<FilmPartAbout, 'number'>;

/**
 * The film of one run, from its first line to its end: video, and pictures whenever there is none. A screen that has not
 * changed since the last picture is not kept again. One that never begins has the last picture alone.
 */
export class RunFilm {
  readonly #options: RunFilmOptions;
  readonly #ended = new AbortController();
  #work: Promise<unknown> = Promise.resolve();
  /** One part is kept after the other: they have numbers. */
  #keeping: Promise<boolean> = Promise.resolve(true);
  #parts = 0;
  #pictureBytes = 0;
  #videoBytes = 0;
  #after: VideoPlace | null = null;
  #stretch: VideoStretch | undefined;
  /** Start of the stretch, on the service's clock. */
  #stretchBeganAt = 0;
  /** Last time at which the video was known to show the screen. */
  #shownAt = 0;
  /** The first picture may be there before the first word of the encoder. */
  #noVideo = noFilm;
  #isVideoFull = false;
  #lastHash = '';
  #lastEndMs = -Infinity;
  #tookMs = 0;
  #isTouched = false;
  #isUsed = false;
  #hasFailed = false;

  constructor(options: RunFilmOptions) {
    this.#options = options;
  }

  /** Whether the run has called its phone. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  begin(): void {
    this.#noVideo = startingVideo;
    this.#work = Promise.all([this.#takePictures(), this.#takeVideo(Date.now())]);
  }

  /** The run has called its phone. After a call that may have changed the screen, the next picture comes sooner. */
  called({ mayChange }: { mayChange: boolean }): void {
    this.#isUsed = true;
    this.#isTouched ||= mayChange;
  }

  /** Takes the last picture. Resolves when nothing is taken any more. */
  async end(): Promise<void> {
    await this.cut();
    const signal = AbortSignal.timeout(this.#options.limits.lastLookMs);
    for (let looks = 1; looks <= maxLastLooks && !(await this.#take(signal)); looks += 1);
  }

  /** The same without a last picture. */
  async cut(): Promise<void> {
    this.#ended.abort();
    await this.#work;
  }

  async #takePictures(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted && this.#room > 0) {
      if (this.#stretch === undefined)
        await this.#take(AbortSignal.any([signal, AbortSignal.timeout(this.#options.limits.pictureMs)]));
      while (!signal.aborted && (this.#stretch !== undefined || performance.now() < this.#dueMs))
        await pause(this.#options.timings.filmPollMs, signal);
    }
  }

  /** Share of the film that is left for pictures, from 1 to 0. */
  get #room(): number {
    const bytes = this.#pictureBytes / (this.#options.maxBytes - this.#videoBytes);
    return 1 - Math.max(bytes, this.#parts / maxFilmParts);
  }

  /**
   * The fuller the film, the more seldom its pictures: a long run has some to its end. And a phone that is slow at them
   * takes pictures for half of its time at most.
   */
  get #dueMs(): number {
    const { filmPictureMs, filmAfterCallMs } = this.#options.timings;
    const waitMs = (this.#isTouched ? filmAfterCallMs : filmPictureMs) / this.#room;
    return this.#lastEndMs + Math.max(waitMs, this.#tookMs);
  }

  /** False: another try may help. */
  async #take(signal: AbortSignal): Promise<boolean> {
    const beganMs = performance.now();
    this.#isTouched = false;
    let isOver = true;
    try {
      const taken = await this.#options.take(signal);
      const takenAt = Date.now();
      isOver = taken !== undefined || signal.aborted;
      // The phone was busy: the next try comes sooner.
      if (taken === undefined) this.#isTouched = true;
      // One that is given up may still come.
      if (taken !== undefined && !signal.aborted) await this.#keepPicture(taken, takenAt);
    } catch (error) {
      this.#failed(error);
    }
    this.#lastEndMs = performance.now();
    this.#tookMs = this.#lastEndMs - beganMs;
    return isOver;
  }

  async #keepPicture(taken: TakenPicture, takenAt: number): Promise<void> {
    const { data, width, height } = await taken.finish();
    const hash = createHash('sha1').update(data).digest('base64url');
    if (hash === this.#lastHash) return;
    const no_video = this.#noVideo.slice(0, maxReasonLength);
    const part = { taken_at: this.#timeOf(takenAt), width, height, no_video };
    if (!(await this.#keep(part, data))) return;
    this.#lastHash = hash;
    this.#pictureBytes += data.byteLength;
  }

  async #takeVideo(runBeganAt: number): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      const found = await this.#nextPackets();
      if (signal.aborted) break;
      if ('reason' in found) {
        await this.#goOnWith(undefined);
        this.#noVideo = found.reason;
        await pause(this.#options.timings.filmPollMs, signal);
      } else await this.#addPackets(found, runBeganAt);
    }
    await this.#goOnWith(undefined);
  }

  get #videoRoom(): number {
    const isFull = this.#isVideoFull || this.#parts >= maxFilmParts;
    return isFull ? 0 : videoShare * this.#options.maxBytes - this.#videoBytes;
  }

  async #nextPackets(): Promise<VideoPackets | NoVideo> {
    if (this.#videoRoom <= 0) return { reason: noRoom };
    const { signal } = this.#ended;
    return this.#options.video(this.#after, signal).catch((error: unknown) => ({ reason: textOf(error) }));
  }

  /** Adds the packets of the run. Those from before the run are dropped: the video begins at the next key packet. */
  async #addPackets({ first, packets }: VideoPackets, runBeganAt: number): Promise<void> {
    if (first.stream !== this.#after?.stream) await this.#goOnWith(undefined);
    this.#shownAt = Date.now();
    if (this.#stretch?.isOverAt(this.#shownAt) === true && packets.length === 0)
      await this.#goOnWith(undefined);
    for (const packet of packets) if (packet.takenAt >= runBeganAt) await this.#addPacket(packet);
    if (packets.length > 0) this.#after = { stream: first.stream, number: first.number + packets.length - 1 };
  }

  async #addPacket(packet: VideoPacket): Promise<void> {
    if (this.#stretch?.add(packet) === true) return;
    if (!packet.isKey) return this.#goOnWith(undefined);
    const room = this.#videoRoom - (this.#stretch?.sizeBytes ?? 0);
    const next = new VideoStretch(packet, room, this.#options.timings);
    const fits = next.add(packet);
    this.#isVideoFull ||= !fits;
    return this.#goOnWith(fits ? next : undefined, packet.takenAt);
  }

  /** Keeps the stretch so far. The next one has begun by then, so that no picture comes in between. */
  async #goOnWith(next: VideoStretch | undefined, endsAt = this.#shownAt): Promise<void> {
    const [stretch, taken_at] = [this.#stretch, this.#stretchBeganAt];
    const endedAt = stretch?.endedAt(endsAt) ?? endsAt;
    const ended_at = this.#timeOf(endedAt);
    this.#stretch = next;
    // One moment: what is known of the service's clock changes with time.
    this.#stretchBeganAt = ended_at;
    if (stretch === undefined) return;
    try {
      const file = await stretch.file(endedAt);
      const { width, height } = stretch.first;
      const times = { taken_at, ended_at };
      if (!(await this.#keep({ ...times, width, height }, file))) return;
      this.#videoBytes += file.byteLength;
      // The next picture tells until when the end of the video stands.
      this.#lastHash = '';
    } catch (error) {
      this.#failed(error);
    }
  }

  #keep(part: Part, content: Buffer): Promise<boolean> {
    const keeping = this.#keeping.then(() => this.#keepNext(part, content));
    this.#keeping = keeping.catch(() => false);
    return keeping;
  }

  /** False: there is no room for it, or not now. */
  async #keepNext(part: Part, content: Buffer): Promise<boolean> {
    const bytes = this.#pictureBytes + this.#videoBytes + content.byteLength;
    const fits = content.byteLength <= maxCaptureBytes && bytes <= this.#options.maxBytes;
    if (!fits || this.#parts >= maxFilmParts) return false;
    const number = this.#parts + 1;
    if (!(await this.#options.keep({ number, ...part }, content))) return false;
    this.#parts = number;
    return true;
  }

  #timeOf(epochMs: number): number {
    return Math.round(this.#options.clock.toService(epochMs));
  }

  /** A black screen and a phone that is away for a moment are common, so one line has to do. */
  #failed(error: unknown): void {
    if (this.#hasFailed || this.#ended.signal.aborted) return;
    this.#hasFailed = true;
    const { log, runId } = this.#options;
    log.info({ runId, reason: textOf(error) }, 'A part of a film could not be taken');
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const maxStretchBytes = 8_000_000;
/** Overhead of the file beside the packets, in bytes: its own, and that of each packet. */
const [headBytes, packetBytes] = [2000, 40];
/** Players take no two packets of one moment. */
const minStepMs = 1;

/** Packets from a key packet on that one file can have. */
class VideoStretch {
  readonly first: VideoPacket;
  readonly #maxBytes: number;
  readonly #timings: FilmTimings;
  readonly #packets: { readonly packet: VideoPacket; readonly at: number }[] = [];
  #bytes = headBytes;

  constructor(first: VideoPacket, maxBytes: number, timings: FilmTimings) {
    this.first = first;
    this.#maxBytes = Math.min(maxStretchBytes, maxBytes);
    this.#timings = timings;
  }

  get sizeBytes(): number {
    return this.#bytes;
  }

  /** False: the packet is for another stretch. */
  add(packet: VideoPacket): boolean {
    const agedMs = packet.takenAt - this.first.takenAt;
    const bytes = this.#bytes + packet.data.byteLength + packetBytes;
    const isLate = this.isOverAt(packet.takenAt) || (packet.isKey && agedMs > this.#timings.filmStretchMs);
    if (isLate || bytes > this.#maxBytes || !isOfSameForm(packet, this.first)) return false;
    this.#bytes = bytes;
    this.#packets.push({ packet, at: Math.max(packet.takenAt, this.#lastAt + minStepMs) });
    return true;
  }

  isOverAt(epochMs: number): boolean {
    return epochMs - this.first.takenAt > this.#timings.maxFilmStretchMs;
  }

  /** The last picture stands until then, at least. */
  endedAt(wanted: number): number {
    return Math.max(wanted, this.#lastAt + minStepMs);
  }

  /** An MP4 file with the packets as they came: a fragment for each of their key packets, after what a player has to know of them. */
  async file(endedAt: number): Promise<Buffer> {
    const { first } = this;
    const { BufferTarget, EncodedPacket, EncodedVideoPacketSource, Mp4OutputFormat, Output } =
      await import('mediabunny');
    const target = new BufferTarget();
    const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'fragmented' }), target });
    const source = new EncodedVideoPacketSource('avc');
    output.addVideoTrack(source);
    await output.start();
    const decoderConfig = { codec: first.codec, codedWidth: first.width, codedHeight: first.height };
    for (const [index, { packet, at }] of this.#packets.entries()) {
      const untilAt = this.#packets[index + 1]?.at ?? endedAt;
      const [beginsS, lastsS] = [(at - first.takenAt) / 1000, (untilAt - at) / 1000];
      const type = packet.isKey ? 'key' : 'delta';
      await source.add(new EncodedPacket(packet.data, type, beginsS, lastsS), { decoderConfig });
    }
    await output.finalize();
    return Buffer.from(target.buffer ?? new ArrayBuffer());
  }

  get #lastAt(): number {
    return this.#packets.at(-1)?.at ?? -Infinity;
  }
}
