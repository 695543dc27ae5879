import { setTimeout as pause } from 'node:timers/promises';
import {
  maxLivePictureBytes,
  maxWallPhones,
  maxWallPicturesAhead,
  type WallMessage,
  WallRequest,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import type { ConnectedHosts } from '../../fleet/hosts/connected-hosts.ts';
import type { LivePicture } from './live-viewer.ts';
import { parsePicture } from './live-view.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import type { Principal } from '../../http/requests/principal.ts';
import type { OpenStream } from '../../http/requests/sockets/open-streams.ts';
import type { ViewerSocket } from '../../http/requests/sockets/viewer-socket.ts';

const turnMs = 250;
/** Two pictures a second are enough to see that something happens. */
const betweenPicturesMs = 500;
const afterNothingMs = 3000;
/** Phones on all walls of a user, each counted on each wall. */
const maxWatchedOfUser = 10 * maxWallPhones;
/** Age of the last answer after which a picture is no longer shown: no viewer had room for a newer one in that time. */
const staleMs = 6000;

interface Watching {
  /** Finds these phones as they are now; phones that are gone are missing. */
  readonly findDevices: (ids: readonly string[]) => Promise<ReadonlyMap<string, FleetDevice>>;
  readonly mayWatch: (viewer: WallViewer, device: FleetDevice) => boolean;
  readonly hosts: Pick<ConnectedHosts, 'ask'>;
  /** Called when a look-up fails. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * All phones that somebody watches on a wall. Each phone is asked for its picture once for all viewers. Pictures are
 * shown in turns, and each turn begins by looking up who may see what: nothing waits for a viewer, and nothing comes
 * after a right has ended.
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
    // The viewer may have left the phone meanwhile: other work has had turns since the turn began.
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

/** The last picture of a phone. */
class WatchedPhone {
  picture: LivePicture | undefined;
  /** Reason why there is no picture. */
  reason: string | undefined;
  readonly #hosts: Pick<ConnectedHosts, 'ask'>;
  #isAsking = false;
  #nextAt = 0;
  #answeredAt = 0;

  constructor(hosts: Pick<ConnectedHosts, 'ask'>) {
    this.#hosts = hosts;
  }

  /** Asks for the next picture, unless one is on its way. */
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

const validator = Compile(WallRequest);

interface ViewerOptions {
  readonly socket: ViewerSocket;
  readonly principal: Principal;
}

/**
 * A viewer of many phones on one socket. Pictures beyond those that it has answered are left out, so that a slow viewer
 * keeps nobody waiting and shows the newest.
 */
export class WallViewer implements OpenStream {
  readonly principal: Principal;
  readonly expiresAt: number;
  readonly #socket: ViewerSocket;
  /** Last state that was sent to the viewer, by watched phone; empty: none yet. */
  readonly #sentStates = new Map<string, string>();
  #room = maxWallPicturesAhead;

  constructor({ socket, principal }: ViewerOptions) {
    this.principal = principal;
    this.expiresAt = principal.expiresAt ?? Infinity;
    this.#socket = socket;
    socket.onMessage(validator, (request) => this.#handle(request));
  }

  get hasRoom(): boolean {
    return this.#room > 0;
  }

  get watched(): string[] {
    return [...this.#sentStates.keys()];
  }

  watch(deviceIds: readonly string[]): void {
    for (const id of deviceIds) if (!this.#sentStates.has(id)) this.#sentStates.set(id, '');
    if (this.#sentStates.size > maxWallPhones) this.refuse();
  }

  isWatching(deviceId: string): boolean {
    return this.#sentStates.has(deviceId);
  }

  /** Ends the viewer because of the phones that it watches. */
  refuse(): void {
    this.#sentStates.clear();
    this.#socket.refuse();
  }

  show(device_id: string, { hash, jpeg, captured_at, width, height }: LivePicture): void {
    if (!this.hasRoom || !this.#replaceState(device_id, `picture ${hash}`)) return;
    this.#room -= 1;
    this.#send({ type: 'frame', device_id, captured_at, width, height });
    this.#socket.send(jpeg);
  }

  sendNothing(device_id: string, reason: string): void {
    if (this.#replaceState(device_id, `nothing ${reason}`))
      this.#send({ type: 'nothing', device_id, reason });
  }

  /** Tells the viewer that it may not see the phone. */
  lose(device_id: string): void {
    this.#sentStates.delete(device_id);
    this.#send({ type: 'gone', device_id });
  }

  end(code: number): void {
    this.#sentStates.clear();
    this.#socket.end(code);
  }

  #handle(request: WallRequest): void {
    // A client that asks on without reading is no viewer.
    if (this.#socket.unsentBytes > maxLivePictureBytes) return this.#socket.terminate();
    if (request.type === 'watch') return this.watch(request.device_ids);
    if (request.type === 'leave') for (const id of request.device_ids) this.#sentStates.delete(id);
    if (request.type === 'shown') this.#room = Math.min(maxWallPicturesAhead, this.#room + request.pictures);
  }

  /** False if the phone is not watched, or its state has been sent. */
  #replaceState(deviceId: string, state: string): boolean {
    const isNew = this.#sentStates.has(deviceId) && this.#sentStates.get(deviceId) !== state;
    if (isNew) this.#sentStates.set(deviceId, state);
    return isNew;
  }

  #send(message: WallMessage): void {
    this.#socket.send(JSON.stringify(message));
  }
}
