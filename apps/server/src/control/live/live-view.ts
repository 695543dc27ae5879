import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import { HostVideo, type VideoPlace, LiveFrame, maxLivePictureBytes } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import type { ConnectedHosts } from '../../fleet/hosts/connected-hosts.ts';
import type { LivePicture, LiveViewer, LiveVideo } from './live-viewer.ts';

/** Ten pictures a second are as many as a host has. */
const betweenPicturesMs = 100;
const afterNothingMs = 1000;
/** Pause before video is asked for again: a phone may have it again once nothing is masked any more. */
const afterNoVideoMs = 1000;

const videoAnswer = Compile(HostVideo);
/**
 * Pause between two questions for video: 4 ms per packet of the answer. No phone makes more packets in that time. A
 * host answers as soon as it has packets, so a host that always has some would be asked without a pause.
 */
const questionPause = { minMs: 10, maxMs: 500, ofPacketMs: 4 };
/** Pause after an answer without news. A host waits this long before it answers that there are none. */
const unchangedPauseMs = 250;

const pauseAfter = (packets: number): number =>
  Math.min(questionPause.maxMs, Math.max(questionPause.minMs, packets * questionPause.ofPacketMs));

/**
 * A phone that is watched. Its host is asked for as long as a viewer waits for the next picture, once for all viewers.
 */
export class LiveView {
  readonly #watching: Watching;
  readonly #waiting = new Set<LiveViewer>();
  #latest: LivePicture | undefined;
  #isAsking = false;
  readonly #video: VideoView;
  #noVideo: { reason: string; until: number } | undefined;

  constructor(watching: Watching) {
    this.#watching = watching;
    this.#video = new VideoView(watching, (reason, viewers) => {
      this.#noVideo = { reason, until: performance.now() + afterNoVideoMs };
      for (const viewer of viewers) this.next(viewer);
    });
  }

  next(viewer: LiveViewer): void {
    if (viewer.takesVideo && performance.now() >= (this.#noVideo?.until ?? 0)) {
      this.#waiting.delete(viewer);
      return this.#video.next(viewer);
    }
    this.#waiting.add(viewer);
    if (!this.#isAsking) void this.#askHost();
  }

  leave(viewer: LiveViewer): void {
    this.#waiting.delete(viewer);
    this.#video.leave(viewer);
  }

  async #askHost(): Promise<void> {
    this.#isAsking = true;
    while (this.#waiting.size > 0) {
      const minimum = pause(betweenPicturesMs);
      if (!(await this.#showNext())) await pause(afterNothingMs);
      await minimum;
    }
    this.#isAsking = false;
  }

  /** Shows the next picture to all waiting viewers. False: there is nothing to see. */
  async #showNext(): Promise<boolean> {
    let device: FleetDevice | undefined;
    try {
      device = await this.#watching.findDevice();
      const picture = device && (await this.#nextPicture(device));
      this.#answer(device, (viewer) => picture && viewer.show(picture, this.#noVideo?.reason));
      return picture !== undefined;
    } catch (error) {
      this.#latest = undefined;
      const reason = error instanceof Error ? error.message : 'no reason given';
      this.#answer(device, (viewer) => viewer.send({ type: 'nothing', reason }));
      return false;
    }
  }

  #answer(device: FleetDevice | undefined, answer: (viewer: LiveViewer) => void): void {
    const viewers = [...this.#waiting];
    this.#waiting.clear();
    for (const viewer of viewers) {
      if (!this.#watching.mayWatch(viewer, device)) continue;
      answer(viewer);
      if (viewer.isWaiting) this.next(viewer);
    }
  }

  async #nextPicture({ serial, epoch, reason }: FleetDevice): Promise<LivePicture> {
    if (epoch === null) throw new Error(reason);
    const known = this.#latest;
    const answer = await this.#watching.hosts.ask(epoch, {
      type: 'live',
      serial,
      known: known?.hash ?? null,
    });
    const { frame, jpeg } = parsePicture(answer);
    if (jpeg.length === 0 && frame.hash !== known?.hash) throw new Error('its host answered with no picture');
    const picture = { ...frame, jpeg: jpeg.length === 0 && known !== undefined ? known.jpeg : jpeg };
    this.#latest = picture;
    return picture;
  }
}

interface Watching {
  /** The phone as it is now. */
  findDevice: () => Promise<FleetDevice | undefined>;
  hosts: Pick<ConnectedHosts, 'ask'>;
  mayWatch: (viewer: LiveViewer, device: FleetDevice | undefined) => boolean;
}

/** The video of one phone: its host is asked for as long as a viewer waits, for all at once. */
class VideoView {
  readonly #watching: Watching;
  readonly #onNone: (reason: string, viewers: readonly LiveViewer[]) => void;
  readonly #waiting = new Set<LiveViewer>();
  /** Place of the last packet that the host has sent. */
  #place: VideoPlace | undefined;
  #isAsking = false;

  /** `onNone`: called with the waiting viewers when there is no video now. */
  constructor(watching: Watching, onNone: (reason: string, viewers: readonly LiveViewer[]) => void) {
    this.#watching = watching;
    this.#onNone = onNone;
  }

  next(viewer: LiveViewer): void {
    // The viewer says `next` again when it has read more.
    if (viewer.isBehind) return;
    this.#waiting.add(viewer);
    if (!this.#isAsking) void this.#askHost();
  }

  leave(viewer: LiveViewer): void {
    this.#waiting.delete(viewer);
  }

  async #askHost(): Promise<void> {
    this.#isAsking = true;
    while (this.#waiting.size > 0) {
      const askedAt = performance.now();
      let pauseMs = questionPause.minMs;
      try {
        const device = await this.#watching.findDevice();
        const before = this.#place;
        const video = device && (await this.#nextVideo(device));
        this.#show(device, video);
        const hasChanged = !isDeepStrictEqual(before, this.#place);
        pauseMs = hasChanged ? pauseAfter(video?.packets.length ?? 0) : unchangedPauseMs;
      } catch (error) {
        this.#place = undefined;
        const viewers = [...this.#waiting];
        this.#waiting.clear();
        this.#onNone(error instanceof Error ? error.message : 'no reason given', viewers);
      }
      await pause(Math.max(0, askedAt + pauseMs - performance.now()));
    }
    this.#isAsking = false;
  }

  #show(device: FleetDevice | undefined, video: LiveVideo | undefined): void {
    for (const viewer of this.#waiting) {
      const maySee = this.#watching.mayWatch(viewer, device);
      if (maySee && video !== undefined) viewer.showVideo(video);
      if (!maySee || !viewer.isWaiting || viewer.isBehind) this.#waiting.delete(viewer);
    }
  }

  /** Asks for the next packets. Viewers who come, or have missed some, get the packets from the last key frame on. */
  async #nextVideo({ serial, epoch, reason }: FleetDevice): Promise<LiveVideo> {
    if (epoch === null) throw new Error(reason);
    const last = this.#place;
    const after = last !== undefined && [...this.#waiting].every((one) => one.hasReached(last)) ? last : null;
    const answer = await this.#watching.hosts.ask(epoch, { type: 'video', serial, after });
    const { head, bytes } = parseAnswer(answer, videoAnswer);
    if ('reason' in head) throw new Error(head.reason);
    const { first, packets } = head;
    if (packets.reduce((sum, { size_bytes }) => sum + size_bytes, 0) !== bytes.length)
      throw new Error('its host gave an unexpected answer');
    if (packets.length > 0) this.#place = { stream: first.stream, number: first.number + packets.length - 1 };
    return { ...head, bytes };
  }
}

const frames = Compile(LiveFrame);
const lineFeed = 0x0a;
const maxHeadBytes = 64 * 1024;

/** The JSON in front of an answer's line feed, and the bytes after it. */
function parseAnswer<Head>(
  answer: Buffer,
  validator: { Check(value: unknown): value is Head },
): { head: Head; bytes: Buffer } {
  const end = answer.subarray(0, maxHeadBytes).indexOf(lineFeed);
  const head = parseJson(answer.toString('utf8', 0, Math.max(end, 0)));
  if (validator.Check(head)) return { head, bytes: answer.subarray(end + 1) };
  throw new Error('its host gave an unexpected answer');
}

/** Parses a picture of a live view or a wall; it has no bytes when it is the known one. */
export function parsePicture(answer: Buffer): { frame: LiveFrame; jpeg: Buffer } {
  const { head: frame, bytes: jpeg } = parseAnswer(answer, frames);
  if (jpeg.length > maxLivePictureBytes)
    throw new Error('its host answered with a picture that is too large');
  return { frame, jpeg };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
