import { setTimeout as pause } from 'node:timers/promises';
import { LiveFrame, maxLivePictureBytes } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import type { FleetDevice } from '../devices/fleet-device.ts';
import type { LinkedHosts } from '../hosts/linked-hosts.ts';
import type { LivePicture, LiveViewer } from './live-viewer.ts';

const validator = Compile(LiveFrame);
const lineFeed = 0x0a;
const maxFrameTextBytes = 1024;
/** Ten pictures a second are as many as a host has. */
const betweenPicturesMs = 100;
const afterNothingMs = 1000;

interface Watching {
  /** The phone as it is now. */
  findDevice: () => Promise<FleetDevice | undefined>;
  hosts: Pick<LinkedHosts, 'ask'>;
  mayWatch: (viewer: LiveViewer, device: FleetDevice | undefined) => boolean;
}

/** One phone that is watched: its host is asked for as long as a viewer waits for the next picture, for all at once. */
export class LiveView {
  readonly #watching: Watching;
  readonly #waiting = new Set<LiveViewer>();
  #latest: LivePicture | undefined;
  #isAsking = false;

  constructor(watching: Watching) {
    this.#watching = watching;
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
      if (!(await this.#showNext())) await pause(afterNothingMs);
      await minimum;
    }
    this.#isAsking = false;
  }

  /** False: there is nothing to see. */
  async #showNext(): Promise<boolean> {
    let device: FleetDevice | undefined;
    try {
      device = await this.#watching.findDevice();
      const picture = device && (await this.#nextPicture(device));
      this.#answer(device, (viewer) => picture && viewer.show(picture));
      return picture !== undefined;
    } catch (error) {
      this.#latest = undefined;
      const reason = error instanceof Error ? error.message : 'no reason given';
      this.#answer(device, (viewer) => viewer.tell({ type: 'nothing', reason }));
      return false;
    }
  }

  #answer(device: FleetDevice | undefined, answer: (viewer: LiveViewer) => void): void {
    const viewers = [...this.#waiting];
    this.#waiting.clear();
    for (const viewer of viewers) {
      if (this.#watching.mayWatch(viewer, device)) answer(viewer);
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
    const { frame, jpeg } = parseAnswer(answer);
    if (jpeg.length === 0 && frame.hash !== known?.hash) throw new Error('its host answered with no picture');
    const picture = { ...frame, jpeg: jpeg.length === 0 && known !== undefined ? known.jpeg : jpeg };
    this.#latest = picture;
    return picture;
  }
}

/** Throws when a host's answer is no picture of a live view. */
export function parseAnswer(answer: Buffer): { frame: LiveFrame; jpeg: Buffer } {
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
