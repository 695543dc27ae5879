import { setTimeout as pause } from 'node:timers/promises';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import { parsePicture } from './host-answer.ts';
import type { LivePicture, LiveViewer } from './live-viewer.ts';
import { VideoView, type Watching } from './video-view.ts';

/** Interval of 10 pictures per second, the most that a host provides. */
const betweenPicturesMs = 100;
const afterNothingMs = 1000;
/** Pause before video is requested again: a phone may provide it again once nothing is masked any more. */
const afterNoVideoMs = 1000;

/** Live view of one phone. Asks its host as long as a viewer waits for the next picture, once for all viewers. */
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

  /** Shows the next picture to all waiting viewers. Returns false when there is nothing to see. */
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
