import { setTimeout as pause } from 'node:timers/promises';
import { LiveFrame, maxLivePictureBytes } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import type { FleetDevice } from '../devices/fleet.ts';
import type { LivePicture, LiveViewer } from './live-viewer.ts';

const validator = Compile(LiveFrame);
const lineFeed = 0x0a;
const maxFrameTextBytes = 1024;
/** Ten pictures a second are as many as a host has. */
const betweenPicturesMs = 100;
const afterNothingMs = 1000;

/** One phone that is watched: its host is asked for as long as a viewer waits for the next picture, for all at once. */
export class LiveView {
  readonly #device: FleetDevice;
  readonly #mayWatch: (viewer: LiveViewer) => boolean;
  readonly #waiting = new Set<LiveViewer>();
  #latest: LivePicture | undefined;
  #isAsking = false;

  constructor(device: FleetDevice, mayWatch: (viewer: LiveViewer) => boolean) {
    this.#device = device;
    this.#mayWatch = mayWatch;
  }

  next(viewer: LiveViewer): void {
    this.#waiting.add(viewer);
    if (!this.#isAsking) void this.#askHost();
  }

  leave(viewer: LiveViewer): void {
    this.#waiting.delete(viewer);
  }

  async #askHost(): Promise<void> {
    this.#isAsking = true;
    while (this.#waiting.size > 0) {
      const minimum = pause(betweenPicturesMs);
      try {
        const picture = await this.#nextPicture();
        this.#answer((viewer) => viewer.show(picture));
      } catch (error) {
        this.#latest = undefined;
        const reason = error instanceof Error ? error.message : 'no reason given';
        this.#answer((viewer) => viewer.tell({ type: 'nothing', reason }));
        await pause(afterNothingMs);
      }
      await minimum;
    }
    this.#isAsking = false;
  }

  #answer(answer: (viewer: LiveViewer) => void): void {
    const viewers = [...this.#waiting];
    this.#waiting.clear();
    for (const viewer of viewers) {
      if (this.#mayWatch(viewer)) answer(viewer);
    }
  }

  async #nextPicture(): Promise<LivePicture> {
    const { link, serial, reason } = this.#device;
    if (link === null) throw new Error(reason);
    const known = this.#latest;
    const { frame, jpeg } = parseAnswer(await link.requestLive(serial, known?.hash ?? null));
    if (jpeg.length === 0 && frame.hash !== known?.hash) throw new Error('its host answered with no picture');
    const picture = { ...frame, jpeg: jpeg.length === 0 && known !== undefined ? known.jpeg : jpeg };
    this.#latest = picture;
    return picture;
  }
}

function parseAnswer(answer: Buffer): { frame: LiveFrame; jpeg: Buffer } {
  const end = answer.subarray(0, maxFrameTextBytes).indexOf(lineFeed);
  const frame = parseJson(answer.toString('utf8', 0, Math.max(end, 0)));
  const jpeg = answer.subarray(end + 1);
  if (validator.Check(frame) && jpeg.length <= maxLivePictureBytes) return { frame, jpeg };
  throw new Error('its host answered with something else');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
