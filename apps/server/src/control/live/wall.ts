import { setTimeout as pause } from 'node:timers/promises';
import { maxWallPhones } from '@phalanx/protocol';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import type { ConnectedHosts } from '../../fleet/hosts/connected-hosts.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import type { WallViewer } from './wall-viewer.ts';
import { WatchedPhone } from './watched-phone.ts';

const turnMs = 250;
/** Maximum number of watched phones per user, counted once per wall. */
const maxWatchedOfUser = 10 * maxWallPhones;

interface Watching {
  /** Finds these phones in their current state; deleted phones are missing. */
  readonly findDevices: (ids: readonly string[]) => Promise<ReadonlyMap<string, FleetDevice>>;
  readonly mayWatch: (viewer: WallViewer, device: FleetDevice) => boolean;
  readonly hosts: Pick<ConnectedHosts, 'ask'>;
  /** Called when a lookup fails. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * All phones that viewers watch on walls. Each phone is asked for its picture once for all viewers. Pictures are shown
 * in turns, and each turn begins by checking who may see what. Slow viewers delay nothing, and nothing is shown after a
 * right has ended.
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
    this.#endExcess();
    const ids = new Set([...this.#viewers].flatMap(({ watched }) => watched));
    for (const id of this.#phones.keys()) if (!ids.has(id)) this.#phones.delete(id);
    if (ids.size === 0) return;
    const devices = await this.#watching.findDevices([...ids]);
    const slice = new TimeSlice();
    for (const viewer of this.#viewers)
      for (const id of viewer.watched) {
        this.#show(viewer, id, devices);
        if (slice.isOver) await slice.next();
      }
  }

  /** Ends the newest walls of users who watch more phones than one user may. */
  #endExcess(): void {
    const counts = new Map<string, number>();
    for (const viewer of this.#viewers) {
      const { userId } = viewer.principal;
      const count = (counts.get(userId) ?? 0) + viewer.watched.length;
      counts.set(userId, count);
      if (count > maxWatchedOfUser) viewer.refuse();
    }
  }

  #show(viewer: WallViewer, id: string, devices: ReadonlyMap<string, FleetDevice>): void {
    // The viewer may have left the phone since the turn began, because other work runs in between.
    if (!viewer.isWatching(id)) return;
    const device = devices.get(id);
    if (device === undefined || !this.#watching.mayWatch(viewer, device)) return viewer.lose(id);
    const phone = this.#phones.get(id) ?? new WatchedPhone(this.#watching.hosts);
    this.#phones.set(id, phone);
    if (viewer.hasRoom) phone.ask(device);
    if (phone.picture !== undefined) viewer.show(id, phone.picture);
    else if (phone.reason !== undefined) viewer.sendNothing(id, phone.reason);
  }
}
