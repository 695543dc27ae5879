import { setTimeout as pause } from 'node:timers/promises';

import type { FleetDevice } from '../devices/fleet-device.ts';
import type { LinkedHosts } from '../hosts/linked-hosts.ts';
import type { LivePicture } from './live-viewer.ts';
import { parsePicture } from './parse-answer.ts';
import type { WallViewer } from './wall-viewer.ts';

const turnMs = 250;
/** Two pictures a second are enough to see that something happens. */
const betweenPicturesMs = 500;
const afterNothingMs = 3000;
/** What nobody had room for in so long is not shown any more. */
const staleMs = 6000;

interface Watching {
  /** Those phones as they are now; those that are gone are missing. */
  readonly findDevices: (ids: readonly string[]) => Promise<ReadonlyMap<string, FleetDevice>>;
  readonly mayWatch: (viewer: WallViewer, device: FleetDevice) => boolean;
  readonly hosts: Pick<LinkedHosts, 'ask'>;
  /** Told of what can't be looked up. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * All phones that somebody watches on a wall. Each is asked for its picture once for all viewers. Whatever is shown is shown in
 * a turn, which begins by looking up who may see what: nothing waits for a viewer, and nothing comes after a right has ended.
 */
export class Wall {
  readonly #watching: Watching;
  readonly #viewers = new Set<WallViewer>();
  readonly #phones = new Map<string, WatchedPhone>();
  #isTurning = false;

  constructor(watching: Watching) {
    this.#watching = watching;
  }

  add(viewer: WallViewer): void {
    this.#viewers.add(viewer);
    if (!this.#isTurning) void this.#turnAlways();
  }

  remove(viewer: WallViewer): void {
    this.#viewers.delete(viewer);
  }

  async #turnAlways(): Promise<void> {
    this.#isTurning = true;
    while (this.#viewers.size > 0) {
      const minimum = pause(turnMs);
      await this.#turn().catch((error: unknown) => this.#watching.onFailure(error));
      await minimum;
    }
    this.#phones.clear();
    this.#isTurning = false;
  }

  async #turn(): Promise<void> {
    const ids = new Set([...this.#viewers].flatMap(({ watched }) => watched));
    for (const id of this.#phones.keys()) if (!ids.has(id)) this.#phones.delete(id);
    if (ids.size === 0) return;
    const devices = await this.#watching.findDevices([...ids]);
    for (const viewer of this.#viewers) for (const id of viewer.watched) this.#show(viewer, id, devices);
  }

  #show(viewer: WallViewer, id: string, devices: ReadonlyMap<string, FleetDevice>): void {
    const device = devices.get(id);
    if (device === undefined || !this.#watching.mayWatch(viewer, device)) return viewer.lose(id);
    const phone = this.#phones.get(id) ?? new WatchedPhone(this.#watching.hosts);
    this.#phones.set(id, phone);
    if (viewer.hasRoom) phone.ask(device);
    if (phone.picture !== undefined) viewer.show(id, phone.picture);
    else if (phone.reason !== undefined) viewer.tellNothing(id, phone.reason);
  }
}

/** What a phone has shown last. */
class WatchedPhone {
  picture: LivePicture | undefined;
  /** Why there is no picture. */
  reason: string | undefined;
  readonly #hosts: Pick<LinkedHosts, 'ask'>;
  #isAsking = false;
  #nextAt = 0;
  #answeredAt = 0;

  constructor(hosts: Pick<LinkedHosts, 'ask'>) {
    this.#hosts = hosts;
  }

  /** Has the next picture come, unless one is on its way. */
  ask(device: FleetDevice): void {
    const now = performance.now();
    if (this.#isAsking || now < this.#nextAt) return;
    this.#isAsking = true;
    this.#nextAt = now + betweenPicturesMs;
    if (now - this.#answeredAt > staleMs) this.picture = undefined;
    this.#askHost(device)
      .catch((error: unknown) => {
        this.picture = undefined;
        this.reason = error instanceof Error ? error.message : 'no reason given';
        this.#nextAt = performance.now() + afterNothingMs;
      })
      .finally(() => {
        this.#isAsking = false;
        this.#answeredAt = performance.now();
      });
  }

  async #askHost({ serial, epoch, reason }: FleetDevice): Promise<void> {
    if (epoch === null) throw new Error(reason);
    const known = this.picture;
    const question = { type: 'wall', serial, known: known?.hash ?? null } as const;
    const { frame, jpeg } = parsePicture(await this.#hosts.ask(epoch, question));
    if (jpeg.length > 0) this.picture = { ...frame, jpeg };
    else if (frame.hash !== known?.hash) throw new Error('its host answered with no picture');
  }
}
