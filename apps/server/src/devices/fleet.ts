import { isDeepStrictEqual } from 'node:util';
import type { DeviceReport, ReportedDeviceState } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';

import type { Clock } from '../clock.ts';
import type { HostLink } from '../hosts/host-link.ts';
import type { Limits } from '../limits/limits.ts';
import type { DeviceStore, StoredDevice } from './store.ts';

/** A device with what its host last said of it. */
export interface FleetDevice {
  readonly id: string;
  readonly ownerId: string;
  readonly serial: string;
  stored: StoredDevice;
  state: ReportedDeviceState;
  reason: string;
  /** When the state began, epoch ms. */
  since: number;
  /** When its host last confirmed it as ready, epoch ms. */
  confirmedAt: number | null;
  /** The host that has it now. */
  link: HostLink | null;
  /** The state that those who follow were last told. */
  announcedState: ReportedDeviceState;
  /** Whether `stored` is in the database. The state is not: it lives as long as the connection. */
  isStored: boolean;
}

export interface Availability {
  state: ReportedDeviceState;
  reason: string;
  since: number;
}

type ChangeListener = (device: FleetDevice) => void;

const key = (ownerId: string, serial: string): string => `${ownerId} ${serial}`;

const sameDescription = (a: StoredDevice, b: StoredDevice): boolean =>
  isDeepStrictEqual({ ...a, last_seen_at: 0 }, { ...b, last_seen_at: 0 });

/** Every device that was ever reported, and who holds it now. */
export class Fleet {
  readonly #byId = new Map<string, FleetDevice>();
  readonly #bySerial = new Map<string, FleetDevice>();
  readonly #byOwner = new Map<string, Set<FleetDevice>>();
  readonly #listeners: ChangeListener[] = [];
  readonly #store: DeviceStore;
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #heartbeatMs: number;

  constructor(options: { store: DeviceStore; clock: Clock; limits: Limits; heartbeatMs: number }) {
    this.#store = options.store;
    this.#limits = options.limits;
    options.limits.show('devices', (userId) => this.#byOwner.get(userId)?.size ?? 0);
    this.#clock = options.clock;
    this.#heartbeatMs = options.heartbeatMs;
  }

  async load(): Promise<void> {
    for (const stored of await this.#store.listAll()) {
      this.#add(stored, {
        reason: 'No host has reported it since the service started',
        since: this.#clock.now(),
      });
    }
  }

  find(id: string): FleetDevice | undefined {
    return this.#byId.get(id);
  }

  all(): FleetDevice[] {
    return [...this.#byId.values()];
  }

  listOwn(userId: string): FleetDevice[] {
    return [...(this.#byOwner.get(userId) ?? [])];
  }

  countByState(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const device of this.#byId.values()) {
      const { state } = this.availability(device);
      counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    return counts;
  }

  onChange(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  /** `ready` only if its host is here and has confirmed it within the last heartbeat. */
  availability(device: FleetDevice): Availability {
    const { state, reason, since, confirmedAt } = device;
    if (state !== 'ready') return { state, reason, since };
    const silentMs = this.#clock.now() - (confirmedAt ?? since);
    // Two heartbeats: one may be on its way.
    if (silentMs <= 2 * this.#heartbeatMs) return { state, reason, since };
    return {
      state: 'unresponsive',
      reason: `Its host has not confirmed it for ${Math.round(silentMs / 1000)} s`,
      since: confirmedAt ?? since,
    };
  }

  /** Takes over what a host says of its phones, and stores what is new. */
  async report(link: HostLink, reports: readonly DeviceReport[]): Promise<void> {
    // What a connection said before it broke is no longer true.
    if (!link.isOpen) return;
    const changes = reports
      .map((report) => this.#apply(link, report))
      .filter((change) => change !== undefined);
    const toStore = changes.filter((device) => !device.isStored);
    if (toStore.length > 0) await this.#store.saveAll(toStore.map((device) => device.stored));
    for (const device of toStore) device.isStored = true;
    for (const device of changes) this.#announce(device);
  }

  confirm(link: HostLink, serials: readonly string[]): void {
    const now = this.#clock.now();
    for (const serial of serials) {
      const device = this.#bySerial.get(key(link.userId, serial));
      if (device?.link === link) device.confirmedAt = now;
    }
  }

  /** The connection of a host is gone, and so are its devices. */
  disconnect(link: HostLink): void {
    for (const device of this.#byOwner.get(link.userId) ?? []) {
      if (device.link !== link) continue;
      device.link = null;
      device.confirmedAt = null;
      this.#setState(device, {
        state: 'offline',
        reason: `Its host ${link.hostName} is not connected: start it, or look at its network`,
        since: this.#clock.now(),
      });
      this.#announce(device);
    }
  }

  /** Tells of the devices that have fallen silent, or have come back, without a word of their host. */
  sweep(): void {
    for (const device of this.#byId.values()) {
      if (this.availability(device).state !== device.announcedState) this.#announce(device);
    }
  }

  async deleteOwned(userId: string): Promise<void> {
    for (const device of this.listOwn(userId)) await this.delete(device);
  }

  async delete(device: FleetDevice): Promise<void> {
    await this.#store.delete(device.id);
    this.#byId.delete(device.id);
    this.#bySerial.delete(key(device.ownerId, device.serial));
    this.#byOwner.get(device.ownerId)?.delete(device);
  }

  #add(stored: StoredDevice, offline: { reason: string; since: number }): FleetDevice {
    const device: FleetDevice = {
      id: stored.id,
      ownerId: stored.owner_id,
      serial: stored.serial,
      stored,
      state: 'offline',
      ...offline,
      confirmedAt: null,
      link: null,
      announcedState: 'offline',
      isStored: true,
    };
    this.#byId.set(device.id, device);
    this.#bySerial.set(key(device.ownerId, device.serial), device);
    const own = this.#byOwner.get(device.ownerId) ?? new Set();
    this.#byOwner.set(device.ownerId, own.add(device));
    return device;
  }

  #apply(link: HostLink, report: DeviceReport): FleetDevice | undefined {
    const known = this.#bySerial.get(key(link.userId, report.serial));
    if (known === undefined && !this.#hasRoom(link.userId)) return undefined;
    // Two hosts may see one phone; the one that can use it has it.
    const heldElsewhere =
      known !== undefined && known.link !== null && known.link !== link && known.link.isOpen;
    if (heldElsewhere && known.state === 'ready' && report.state !== 'ready') return undefined;
    const stored = this.#describe(link, report, known?.stored);
    const device = known ?? this.#add(stored, { reason: report.reason, since: report.since });
    if (known === undefined || !sameDescription(known.stored, stored)) device.isStored = false;
    device.stored = stored;
    device.link = link;
    device.confirmedAt = report.state === 'ready' ? this.#clock.now() : null;
    this.#setState(device, report);
    return device;
  }

  /** A host that reports more phones than its user may have keeps those that are known. */
  #hasRoom(userId: string): boolean {
    const hasRoom = (this.#byOwner.get(userId)?.size ?? 0) < this.#limits.most('devices');
    if (!hasRoom) this.#limits.note('devices', userId);
    return hasRoom;
  }

  #describe(link: HostLink, report: DeviceReport, before: StoredDevice | undefined): StoredDevice {
    return {
      id: before?.id ?? uuidv7(),
      owner_id: link.userId,
      serial: report.serial,
      host_id: link.hostId,
      host_name: link.hostName,
      // A phone that is offline or unauthorized does not tell what it is: what it told before stands.
      brand: report.brand || (before?.brand ?? ''),
      model: report.model || (before?.model ?? ''),
      android_version: report.android_version || (before?.android_version ?? ''),
      sdk_version: report.sdk_version || (before?.sdk_version ?? 0),
      screen_width: report.screen_width || (before?.screen_width ?? 0),
      screen_height: report.screen_height || (before?.screen_height ?? 0),
      last_seen_at: this.#clock.now(),
    };
  }

  #setState(device: FleetDevice, { state, reason, since }: Availability): void {
    device.state = state;
    device.reason = reason;
    // A host's clock may be ahead; a state never begins in the future.
    device.since = Math.min(since, this.#clock.now());
  }

  #announce(device: FleetDevice): void {
    device.announcedState = this.availability(device).state;
    for (const listener of this.#listeners) listener(device);
  }
}
