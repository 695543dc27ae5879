import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { HostVideo, type VideoPlace } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import type { ConnectedHosts } from '../../fleet/hosts/connected-hosts.ts';
import { parseAnswer } from './host-answer.ts';
import type { LiveVideo, LiveViewer } from './live-viewer.ts';

const videoAnswer = Compile(HostVideo);
/**
 * Pause between two questions for video: 4 ms per packet of the answer, in which no phone makes more packets. A host
 * answers as soon as it has packets, so without a pause a host that always has some would be asked continuously.
 */
const questionPause = { minMs: 10, maxMs: 500, ofPacketMs: 4 };
/**
 * Pause after an answer without new packets, in ms. A host also waits this long before it answers that there are none.
 */
const unchangedPauseMs = 250;

const pauseAfter = (packets: number): number =>
  Math.min(questionPause.maxMs, Math.max(questionPause.minMs, packets * questionPause.ofPacketMs));

export interface Watching {
  /** Finds the phone in its current state. */
  findDevice: () => Promise<FleetDevice | undefined>;
  hosts: Pick<ConnectedHosts, 'ask'>;
  mayWatch: (viewer: LiveViewer, device: FleetDevice | undefined) => boolean;
}

/** Video of one phone. Asks its host as long as a viewer waits, once for all viewers. */
export class VideoView {
  readonly #watching: Watching;
  readonly #onNone: (reason: string, viewers: readonly LiveViewer[]) => void;
  readonly #waiting = new Set<LiveViewer>();
  /** Place of the last packet that the host has sent. */
  #place: VideoPlace | undefined;
  #isAsking = false;

  /** Creates the view. `onNone` is called with the waiting viewers when there is no video. */
  constructor(watching: Watching, onNone: (reason: string, viewers: readonly LiveViewer[]) => void) {
    this.#watching = watching;
    this.#onNone = onNone;
  }

  next(viewer: LiveViewer): void {
    // The viewer sends `next` again when it has read more.
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

  /**
   * Requests the next packets. When a viewer joins or has missed packets, requests those from the last key frame on.
   */
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
