import { isDeepStrictEqual } from 'node:util';
import { type DeviceReport, type PhoneWarning, phoneWarningCodes } from '@phalanx/protocol';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import type { HostLink } from '../hosts/host-link.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import {
  deviceElsewhere,
  type FleetDevice,
  identityOf,
  warningsOf,
  type Availability,
  type HeldDevice,
  HeldDevices,
} from './fleet-device.ts';
import { identityAtHost } from './device-identity.ts';
import type {
  DevicePage,
  DevicePlacement,
  DevicePlacementStore,
  StateCount,
} from './device-placement-store.ts';
import { type DescribedDevice, type DeviceStore, withKnownFacts } from './store.ts';
import type { StoredDevice } from './stored-device.ts';

interface Options {
  store: DeviceStore;
  placed: DevicePlacementStore;
  clock: Clock;
  limits: Limits;
  heartbeatMs: number;
  /** ID of this server. */
  nodeId: string;
  /** Resolves when all ends of connections so far are stored. */
  endsStored: () => Promise<void>;
}

/** Maximum number of cached devices of other servers; the cache serves callers that poll. */
const maxCached = 10_000;
const cachedMs = 500;

type ChangeListener = (deviceIds: readonly string[]) => void;

/**
 * Registry of every device that was ever reported, with its current state. Reports by hosts of this server are held in
 * memory, and changes are stored for the other servers. All other devices are read from the database.
 */
export class Fleet {
  readonly #options: Options;
  readonly #held = new HeldDevices();
  readonly #listeners: ChangeListener[] = [];
  /** Reports about phones that are ready at other hosts, by serial. */
  readonly #waiting = new Map<HostLink, Map<string, DeviceReport>>();
  readonly #cached = new LRUCache<string, DevicePlacement>({ max: maxCached, ttl: cachedMs });

  constructor(options: Options) {
    this.#options = options;
    options.limits.registerUsage('devices', (userId) => options.placed.countOwned(userId));
  }

  async find(id: string): Promise<FleetDevice | undefined> {
    const held = this.#held.find(id);
    if (held !== undefined) return this.#viewHeld(held);
    const row = await this.#options.placed.find(id);
    if (row !== undefined) this.#cached.set(id, row);
    return row && this.#view(row);
  }

  /**
   * Finds a device for callers that poll. For a device at another server, the state may be as stale as the cached
   * shares.
   */
  async findCached(id: string): Promise<FleetDevice | undefined> {
    const row = this.#held.find(id) === undefined ? this.#cached.get(id) : undefined;
    return row === undefined ? this.find(id) : this.#view(row);
  }

  /** Finds devices by ID; unknown devices are missing. */
  async findAll(ids: readonly string[]): Promise<Map<string, FleetDevice>> {
    const found = new Map<string, FleetDevice>();
    const others: string[] = [];
    for (const id of ids) {
      const held = this.#held.find(id);
      if (held === undefined) others.push(id);
      else found.set(id, this.#viewHeld(held));
    }
    const rows = others.length === 0 ? [] : await this.#options.placed.listByIds(others);
    for (const row of rows) found.set(row.id, this.#view(row));
    return found;
  }

  /** Lists at most `limit` devices of the owner after the cursor, in the order of their IDs. */
  async listPageOf(ownerId: string, page: DevicePage): Promise<FleetDevice[]> {
    const rows = await this.#options.placed.listPageOf(ownerId, page);
    return rows.map((row) => this.#view(row));
  }

  /** Counts the owner's devices at these hosts by state and connection. */
  countStatesOf(ownerId: string, hostIds: readonly string[]): Promise<StateCount[]> {
    return this.#options.placed.countStatesOf(ownerId, hostIds);
  }

  /** Finds a device that a host of this server has. */
  findHeld(id: string): FleetDevice | undefined {
    const held = this.#held.find(id);
    return held && this.#viewHeld(held);
  }

  listHeldIds(): string[] {
    return this.#held.all().map(({ stored }) => stored.id);
  }

  /** Counts the ready devices that the host has on a connection to this server. */
  countReadyHere(epoch: number): number {
    return this.#held.ofEpoch(epoch).filter((held) => this.#availability(held).state === 'ready').length;
  }

  /** Counts the devices of this server's hosts, and those that no host has, by state. */
  async countByState(): Promise<Map<string, number>> {
    const counts = new Map([['offline', await this.#options.placed.countOffline()]]);
    for (const held of this.#held.all()) {
      const { state } = this.#availability(held);
      counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    return counts;
  }

  /** Counts the warnings of the devices of this server's hosts. */
  countWarnings(): Map<PhoneWarning['code'], number> {
    const counts = new Map(phoneWarningCodes.map((code) => [code, 0]));
    for (const { stored } of this.#held.all())
      for (const { code } of warningsOf(stored)) counts.set(code, (counts.get(code) ?? 0) + 1);
    return counts;
  }

  onChange(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  /** Applies the reports of a host about its phones, and stores changes. */
  async report(link: HostLink, reports: readonly DeviceReport[]): Promise<void> {
    // A report from before the connection closed is stale.
    if (!link.isOpen) return;
    // The later of two reports about a phone counts.
    const latest = [...new Map(reports.map((report) => [report.serial, report])).values()];
    const changed = latest.flatMap((report) => this.#findChange(link, report) ?? []);
    for (const { serial } of latest) this.#waiting.get(link)?.delete(serial);
    const { stored, waiting } = await this.#storeChanged(link, changed);
    if (!link.isOpen) return;
    this.#keepWaiting(link, latest, waiting);
    this.#takeOver(link, changed, stored);
    this.#confirmReported(link, latest);
  }

  confirm(link: HostLink, serials: readonly string[]): void {
    const now = this.#options.clock.now();
    for (const serial of serials) {
      const device = this.#held.findOf(link, serial);
      if (device !== undefined) device.confirmedAt = now;
    }
  }

  /** Releases the devices of a host whose connection has closed. */
  async disconnect(link: HostLink): Promise<void> {
    this.#waiting.delete(link);
    const ids = this.#held.releaseAll(link).map(({ stored }) => stored.id);
    if (ids.length === 0) return;
    await this.#options.endsStored();
    this.#notify(ids);
    // Another host may have reported some of them before this host released them.
    await this.retryWaiting();
  }

  /** Retries the waiting reports: phones that their other host has released now belong to the waiting host. */
  async retryWaiting(): Promise<void> {
    for (const [link, reports] of this.#waiting) {
      if (!link.isOpen || reports.size === 0) this.#waiting.delete(link);
      else await this.report(link, [...reports.values()]);
    }
  }

  #keepWaiting(link: HostLink, reports: readonly DeviceReport[], waiting: readonly string[]): void {
    if (waiting.length === 0) return;
    const kept = this.#waiting.get(link) ?? new Map<string, DeviceReport>();
    const serials = new Set(waiting);
    for (const report of reports) if (serials.has(report.serial)) kept.set(report.serial, report);
    this.#waiting.set(link, kept);
  }

  /**
   * Detects devices that have become unresponsive or have recovered without a report of their host. Notifies listeners
   * and stores the states.
   */
  async sweep(): Promise<void> {
    const changed = this.#held.all().flatMap((device) => {
      const availability = this.#availability(device);
      return availability.state === device.stored.state ? [] : [{ device, availability }];
    });
    this.#announce(changed.map(({ device }) => device));
    if (changed.length === 0) return;
    await this.#options.store.saveStates(
      changed.map(({ device: { stored }, availability }) => ({
        id: stored.id,
        epoch: stored.epoch,
        before: stored.state,
        ...availability,
      })),
    );
    for (const { device, availability } of changed) device.stored = { ...device.stored, ...availability };
  }

  async deleteOwned(userId: string): Promise<void> {
    await this.#options.store.deleteOwned(userId);
    for (const device of this.#held.all()) if (device.stored.owner_id === userId) this.#held.release(device);
  }

  /** Deletes a device. Returns false when its host has it or a run on it has not ended. */
  async deleteIdle({ id, epoch }: FleetDevice): Promise<boolean> {
    if (epoch !== null) return false;
    await this.#options.endsStored();
    const isDeleted = await this.#options.store.deleteIdle(id);
    this.#cached.delete(id);
    return isDeleted;
  }

  /** Returns the device to store for a report, or undefined when nothing has changed. */
  #findChange(link: HostLink, report: DeviceReport): DescribedDevice | undefined {
    const known = this.#held.findOf(link, report.serial)?.stored;
    const described = this.#describe(link, report);
    if (known === undefined) return described;
    const { id: _id, epoch: _epoch, ...before } = known;
    const after = { ...withKnownFacts(described, before), identity: before.identity };
    return isDeepStrictEqual({ ...before, last_seen_at: after.last_seen_at }, after) ? undefined : after;
  }

  /**
   * Stores changed devices. When a host reports more phones than its user may have, new phones are refused and known
   * ones are kept.
   */
  async #storeChanged(
    link: HostLink,
    changed: readonly DescribedDevice[],
  ): Promise<{ stored: StoredDevice[]; waiting: string[] }> {
    if (changed.length === 0) return { stored: [], waiting: [] };
    const { store, limits } = this.#options;
    const terms = { epoch: link.epoch, maxDevices: limits.limitOf('devices') };
    const { stored, refused, waiting } = await store.report(changed, terms);
    for (let left = refused; left > 0; left -= 1) limits.note('devices', link.userId);
    return { stored, waiting };
  }

  /** Takes over the stored devices. Changes that were not stored belong to another host or exceed the limit. */
  #takeOver(link: HostLink, changed: readonly DescribedDevice[], stored: readonly StoredDevice[]): void {
    for (const { serial } of changed) {
      const before = this.#held.findOf(link, serial);
      if (before !== undefined) this.#held.release(before);
    }
    for (const device of stored) {
      const { state, reason, since } = device;
      const reported = { state, reason, since };
      this.#held.hold({ stored: device, reported, link, confirmedAt: null });
    }
  }

  #confirmReported(link: HostLink, reports: readonly DeviceReport[]): void {
    const now = this.#options.clock.now();
    const devices = reports.flatMap(({ serial, state }) => {
      const device = this.#held.findOf(link, serial);
      if (device !== undefined) device.confirmedAt = state === 'ready' ? now : null;
      return device ?? [];
    });
    this.#announce(devices);
  }

  #describe(link: HostLink, report: DeviceReport): DescribedDevice {
    const now = this.#options.clock.now();
    const { serial, has_own_number: hasOwnNumber = true } = report;
    return {
      owner_id: link.userId,
      identity: hasOwnNumber ? serial : identityAtHost({ host_id: link.hostId, serial }),
      serial,
      phone_mark: report.phone_mark ?? '',
      boot_mark: report.boot_mark ?? '',
      host_id: link.hostId,
      host_name: link.hostName,
      brand: report.brand,
      model: report.model,
      android_version: report.android_version,
      sdk_version: report.sdk_version,
      screen_width: report.screen_width,
      screen_height: report.screen_height,
      last_seen_at: now,
      state: report.state,
      reason: report.reason,
      // The clock of a host may be ahead; a state must not begin in the future.
      since: Math.min(report.since, now),
      warnings: JSON.stringify(report.warnings ?? []),
      battery_percent: report.battery_percent ?? null,
    };
  }

  /** Returns `ready` only if the host has confirmed the phone within the last two heartbeats. */
  #availability({ reported, confirmedAt }: HeldDevice): Availability {
    if (reported.state !== 'ready') return reported;
    const silentMs = this.#options.clock.now() - (confirmedAt ?? reported.since);
    // Two heartbeats, because one may still be in flight.
    if (silentMs <= 2 * this.#options.heartbeatMs) return reported;
    return {
      state: 'unresponsive',
      reason: `Its host has not reported it for ${Math.round(silentMs / 1000)} s`,
      since: confirmedAt ?? reported.since,
    };
  }

  #viewHeld(held: HeldDevice): FleetDevice {
    const { stored, confirmedAt, link } = held;
    const { epoch, knowsSecrets, knowsAppLimits } = link;
    return {
      ...identityOf(stored),
      ...this.#availability(held),
      confirmedAt,
      epoch,
      isHostConnected: true,
      isReturning: false,
      knowsSecrets,
      knowsAppLimits,
    };
  }

  #view(row: DevicePlacement): FleetDevice {
    const held = this.#held.find(row.id);
    const { nodeId, clock } = this.#options;
    return held === undefined ? deviceElsewhere(row, nodeId, clock.now()) : this.#viewHeld(held);
  }

  /** Notifies listeners that something other than the state of these devices has changed. */
  announce(deviceIds: readonly string[]): void {
    this.#notify(deviceIds);
  }

  #announce(devices: readonly HeldDevice[]): void {
    if (devices.length > 0) this.#notify(devices.map(({ stored }) => stored.id));
  }

  #notify(deviceIds: readonly string[]): void {
    for (const listener of this.#listeners) listener(deviceIds);
  }
}
