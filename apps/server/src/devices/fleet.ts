import { isDeepStrictEqual } from 'node:util';
import type { DeviceReport, ReportedDeviceState } from '@phalanx/protocol';

import type { Clock } from '../clock.ts';
import type { HostLink } from '../hosts/host-link.ts';
import type { Limits } from '../limits/limits.ts';
import type { DescribedDevice, DeviceStore, StoredDevice } from './store.ts';

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
}

export interface Availability {
  state: ReportedDeviceState;
  reason: string;
  since: number;
}

type ChangeListener = (device: FleetDevice) => void;

const key = (ownerId: string, serial: string): string => `${ownerId} ${serial}`;

const withoutHost = (name: string): string =>
  `Its host ${name} is not connected: start it, or look at its network`;

const isDescribed = ({ id: _id, ...stored }: StoredDevice, described: DescribedDevice): boolean =>
  isDeepStrictEqual({ ...stored, last_seen_at: 0 }, { ...described, last_seen_at: 0 });

/** Every device that was ever reported, and who holds it now. */
export class Fleet {
  readonly #byId = new Map<string, FleetDevice>();
  readonly #bySerial = new Map<string, FleetDevice>();
  readonly #byOwner = new Map<string, Set<FleetDevice>>();
  readonly #byLink = new Map<HostLink, Set<FleetDevice>>();
  readonly #listeners: ChangeListener[] = [];
  /** How many phones of an owner are being stored that nobody knew. */
  readonly #arriving = new Map<string, number>();
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

  /** `awaySince`: when the host of a phone was last connected; null when that is not known. */
  async load(awaySince: (host: { ownerId: string; hostId: string }) => number | null): Promise<void> {
    for (const stored of await this.#store.listAll()) {
      const since = awaySince({ ownerId: stored.owner_id, hostId: stored.host_id });
      this.#add(stored, { reason: withoutHost(stored.host_name), since: since ?? this.#clock.now() });
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
    const theirs = this.#selectTheirs(link, reports);
    await this.#storeNews(link, theirs);
    if (!link.isOpen) return;
    for (const report of this.#selectTheirs(link, theirs)) this.#apply(link, report);
  }

  /** Of two reports of one phone, the later one. */
  #selectTheirs(link: HostLink, reports: readonly DeviceReport[]): DeviceReport[] {
    const bySerial = new Map(reports.map((report) => [report.serial, report]));
    return [...bySerial.values()].filter((report) => !this.#isHeldElsewhere(link, report));
  }

  /** Two hosts may see one phone; the one that can use it has it. */
  #isHeldElsewhere(link: HostLink, { serial, state }: DeviceReport): boolean {
    const known = this.#bySerial.get(key(link.userId, serial));
    if (known === undefined || known.link === null || known.link === link) return false;
    return known.link.isOpen && known.state === 'ready' && state !== 'ready';
  }

  /** Phones that nobody knew, and what is new of others. The database says which ID each has. */
  async #storeNews(link: HostLink, reports: readonly DeviceReport[]): Promise<void> {
    const news = reports.flatMap((report) => {
      const known = this.#bySerial.get(key(link.userId, report.serial));
      const described = this.#describe(link, report, known?.stored);
      return known !== undefined && isDescribed(known.stored, described) ? [] : [{ known, described }];
    });
    const unknown = this.#selectRoom(
      link.userId,
      news.filter(({ known }) => known === undefined),
    );
    const toStore = [...news.filter(({ known }) => known !== undefined), ...unknown];
    if (toStore.length === 0) return;
    this.#changeArriving(link.userId, unknown.length);
    try {
      const devices = toStore.map(({ described }) => described);
      for (const stored of await this.#store.saveAll(devices, link.epoch)) this.#note(stored);
    } finally {
      this.#changeArriving(link.userId, -unknown.length);
    }
  }

  #changeArriving(userId: string, by: number): void {
    const count = (this.#arriving.get(userId) ?? 0) + by;
    if (count > 0) this.#arriving.set(userId, count);
    else this.#arriving.delete(userId);
  }

  #note(stored: StoredDevice): void {
    const known = this.#byId.get(stored.id);
    if (known !== undefined) known.stored = stored;
    else this.#add(stored, { reason: 'No host has said how it is', since: this.#clock.now() });
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
    for (const device of this.#byLink.get(link) ?? []) {
      this.#hold(device, null);
      device.confirmedAt = null;
      this.#setState(device, {
        state: 'offline',
        reason: withoutHost(link.hostName),
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
    this.#forget(device);
  }

  /** False: its host has it, or a run on it has not ended. */
  async deleteIdle(device: FleetDevice): Promise<boolean> {
    if (device.link !== null || !(await this.#store.deleteIdle(device.id))) return false;
    this.#forget(device);
    return true;
  }

  #forget(device: FleetDevice): void {
    this.#byId.delete(device.id);
    this.#bySerial.delete(key(device.ownerId, device.serial));
    this.#byOwner.get(device.ownerId)?.delete(device);
    this.#hold(device, null);
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
    };
    this.#byId.set(device.id, device);
    this.#bySerial.set(key(device.ownerId, device.serial), device);
    const own = this.#byOwner.get(device.ownerId) ?? new Set();
    this.#byOwner.set(device.ownerId, own.add(device));
    return device;
  }

  #apply(link: HostLink, report: DeviceReport): void {
    const device = this.#bySerial.get(key(link.userId, report.serial));
    if (device === undefined) return;
    this.#hold(device, link);
    device.confirmedAt = report.state === 'ready' ? this.#clock.now() : null;
    this.#setState(device, report);
    this.#announce(device);
  }

  #hold(device: FleetDevice, link: HostLink | null): void {
    const before = device.link;
    if (before === link) return;
    device.link = link;
    if (link !== null) this.#byLink.set(link, (this.#byLink.get(link) ?? new Set()).add(device));
    if (before === null) return;
    const left = this.#byLink.get(before);
    left?.delete(device);
    if (left?.size === 0) this.#byLink.delete(before);
  }

  /** A host that reports more phones than its user may have keeps those that are known. */
  #selectRoom<Unknown>(userId: string, unknown: readonly Unknown[]): Unknown[] {
    const used = (this.#byOwner.get(userId)?.size ?? 0) + (this.#arriving.get(userId) ?? 0);
    const room = Math.max(0, this.#limits.most('devices') - used);
    for (let refused = unknown.length - room; refused > 0; refused -= 1) this.#limits.note('devices', userId);
    return unknown.slice(0, room);
  }

  #describe(link: HostLink, report: DeviceReport, before: StoredDevice | undefined): DescribedDevice {
    return {
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
