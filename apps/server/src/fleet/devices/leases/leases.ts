import { randomUUID } from 'node:crypto';
import type { DeviceLease, DeviceRole } from '@phalanx/protocol';

import type { Clock } from '../../../kernel/clock.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import type { FleetDevice } from '../fleet-device.ts';
import type { Fleet } from '../fleet.ts';
import type { LeaseStore, StoredLease } from './lease-store.ts';

interface Lease {
  /** ID of this claim; the program that presents it holds the device. */
  readonly id: string;
  readonly userId: string;
  /** Whether even its own user needs the ID to touch the device. */
  readonly isExclusive: boolean;
  readonly since: number;
  readonly durationMs: number;
  expiresAt: number;
}

/** Lookups for roles and names of users. */
interface Roles {
  roleOf(userId: string, device: FleetDevice): DeviceRole | undefined;
  nameOf(userId: string): string;
}

interface LeasesOptions {
  clock: Clock;
  shares: Roles;
  store: LeaseStore;
}

const leaseOf = ({ id, user_id, since, duration_ms, expires_at, is_exclusive }: StoredLease): Lease => ({
  id,
  userId: user_id,
  since,
  durationMs: duration_ms,
  expiresAt: expires_at,
  isExclusive: is_exclusive === 1,
});

/** User who wants to touch a device. */
export interface LeaseClaimant {
  readonly userId: string;
  /** Lease that the user claims to have. */
  readonly leaseId?: string | undefined;
}

interface LeaseRequest extends LeaseClaimant {
  readonly durationMs: number;
  readonly isExclusive?: boolean | undefined;
}

/** Receives the device and `changes`, the number of its leases that have begun or ended so far. */
type LeaseListener = (device: FleetDevice, changes: number) => void;

/** Minimum time by which a touch of the holder extends the stored end of a lease, in ms. */
const minExtensionMs = 1000;

/** Cache of the leases of devices. A lease is void once it has expired or its holder may no longer touch the device. */
export class Leases {
  readonly #options: LeasesOptions;
  #ofDevice = new Map<string, Lease>();
  readonly #listeners: LeaseListener[] = [];

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** Registers a listener that is called when a lease begins or ends. */
  onChange(listener: LeaseListener): void {
    this.#listeners.push(listener);
  }

  /** Resolves when all listeners have been called. */
  async #notify(device: FleetDevice): Promise<void> {
    const changes = await this.#options.store.countChanges(device.id);
    for (const listen of this.#listeners) listen(device, changes);
  }

  /** Loads all leases. Call it at startup, and when another server may have changed something. */
  async load(): Promise<void> {
    const rows = await this.#options.store.list();
    this.#ofDevice = new Map(rows.map((row) => [row.device_id, leaseOf(row)]));
  }

  #know(deviceId: string, row: StoredLease | undefined): void {
    if (row === undefined) this.#ofDevice.delete(deviceId);
    else this.#ofDevice.set(deviceId, leaseOf(row));
  }

  find(device: FleetDevice): DeviceLease | null {
    const { clock, shares } = this.#options;
    const lease = this.#ofDevice.get(device.id);
    if (lease === undefined || lease.expiresAt <= clock.now()) return null;
    const role = shares.roleOf(lease.userId, device);
    return role === 'owner' || role === 'launch' ? this.#view(lease) : null;
  }

  /** Returns the other user who has leased the device, and until when. */
  findOther(device: FleetDevice, userId: string): { user: string; until: string } | undefined {
    const lease = this.find(device);
    if (lease === null || lease.user.id === userId) return undefined;
    return { user: lease.user.name, until: new Date(lease.expires_at).toISOString() };
  }

  /**
   * Throws `device_leased` when another user has leased the device, or another program of the same user holds it
   * exclusively. Throws `lease_lost` when the presented lease is not the current one.
   */
  requireFree(device: FleetDevice, { userId, leaseId }: LeaseClaimant): void {
    const lease = this.find(device) === null ? undefined : this.#ofDevice.get(device.id);
    const isOther = lease !== undefined && (lease.userId !== userId || (lease.isExclusive && !leaseId));
    if (isOther) this.#refuse(device, lease);
    if (leaseId !== undefined && lease?.id !== leaseId)
      throw ApiError.of('lease_lost', { device_id: device.id });
  }

  /**
   * Checks the same against the stored row, for the server of the device's host: its cache may be a second old, and the
   * request may have waited. Resolves with the number of leases of the device that had begun or ended by then.
   */
  async requireFreeNow(device: FleetDevice, claimant: LeaseClaimant): Promise<number> {
    // Read before the row, so that a change in between counts as later than this number.
    const changes = await this.#options.store.countChanges(device.id);
    await this.readNow(device);
    this.requireFree(device, claimant);
    return changes;
  }

  /** Reads the lease from its row, which another server may have changed in the meantime. */
  async readNow(device: FleetDevice): Promise<DeviceLease | null> {
    this.#know(device.id, await this.#options.store.find(device.id));
    return this.find(device);
  }

  /** Takes a lease, or extends the one that the user already has. Throws `device_leased` and `lease_lost`. */
  async take(
    device: FleetDevice,
    { durationMs, isExclusive = false, ...claimant }: LeaseRequest,
  ): Promise<DeviceLease & { lease_id: string }> {
    this.requireFree(device, claimant);
    const before = this.find(device) === null ? undefined : this.#ofDevice.get(device.id);
    // A program that requests an exclusive lease must not get one that another program of its user may hold.
    if (before !== undefined && isExclusive && claimant.leaseId === undefined) this.#refuse(device, before);
    const now = this.#options.clock.now();
    const lease: Lease = {
      ...(before ?? { id: randomUUID(), userId: claimant.userId, since: now, isExclusive }),
      durationMs,
      expiresAt: now + durationMs,
    };
    await this.#keep(device, lease, false);
    if (before === undefined) await this.#notify(device);
    return { ...this.#view(lease), lease_id: lease.id };
  }

  #refuse(device: FleetDevice, { userId, expiresAt }: Lease): never {
    const user = this.#options.shares.nameOf(userId);
    const until = new Date(expiresAt).toISOString();
    throw ApiError.of('device_leased', { device_id: device.id, user, until });
  }

  /** Extends the lease when its holder touches the device. Throws `device_leased` and `lease_lost`. */
  async use(device: FleetDevice, claimant: LeaseClaimant): Promise<void> {
    this.requireFree(device, claimant);
    const lease = this.#ofDevice.get(device.id);
    if (this.find(device) === null || lease === undefined) return;
    const expiresAt = this.#options.clock.now() + lease.durationMs;
    if (expiresAt - lease.expiresAt >= minExtensionMs)
      await this.#keep(device, { ...lease, expiresAt }, true);
  }

  /** Stores the code of an act for `readCode`, only during a lease of the user. */
  async addCode(device: FleetDevice, { userId }: LeaseClaimant, lines: readonly string[]): Promise<void> {
    const lease = this.find(device) === null ? undefined : this.#ofDevice.get(device.id);
    if (lease?.userId !== userId || lines.length === 0) return;
    await this.#options.store.addCode({ device_id: device.id, id: lease.id }, lines);
  }

  /** Reads the code of the current lease. Throws `device_leased`, or `lease_lost` when there is no lease. */
  async readCode(device: FleetDevice, claimant: LeaseClaimant): Promise<string[]> {
    await this.requireFreeNow(device, claimant);
    const lease = this.find(device) === null ? undefined : this.#ofDevice.get(device.id);
    if (lease === undefined) throw ApiError.of('lease_lost', { device_id: device.id });
    return this.#options.store.readCode({ device_id: device.id, id: lease.id });
  }

  /**
   * Ends the lease that this server has cached. Returns false when it has already ended. A lease that was taken since
   * then stays.
   */
  async end(device: FleetDevice): Promise<boolean> {
    const lease = this.#ofDevice.get(device.id);
    if (lease === undefined) return false;
    const hasCounted = this.find(device) !== null;
    const isDeleted = await this.#options.store.delete({ device_id: device.id, id: lease.id });
    await this.readNow(device);
    if (isDeleted && hasCounted) await this.#notify(device);
    return isDeleted && hasCounted;
  }

  /** Deletes expired leases, drops void ones from the cache, and notifies the listeners. */
  async sweep(fleet: Pick<Fleet, 'findAll'>): Promise<void> {
    const { store, clock } = this.#options;
    // A reload may have removed expired leases from the cache in the meantime.
    const expired = await store.deleteExpired(clock.now());
    const ids = [...new Set([...expired, ...this.#ofDevice.keys()])];
    const devices = ids.length === 0 ? undefined : await fleet.findAll(ids);
    for (const id of ids) {
      const device = devices?.get(id);
      if (device !== undefined && this.find(device) !== null) continue;
      this.#ofDevice.delete(id);
      if (device !== undefined) await this.#notify(device);
    }
  }

  /**
   * Stores a lease. Throws `device_leased` when another server was faster, and `lease_lost` when the lease no longer
   * holds.
   */
  async #keep(device: FleetDevice, lease: Lease, isByTouch: boolean): Promise<void> {
    const { store, clock } = this.#options;
    const { id, userId: user_id, since, durationMs: duration_ms, expiresAt: expires_at } = lease;
    const is_exclusive = Number(lease.isExclusive);
    const row = { device_id: device.id, id, user_id, since, duration_ms, expires_at, is_exclusive };
    const known = this.#ofDevice.get(device.id);
    // A lease that has expired in this cache may have been extended at another server; the row decides.
    const isWorthless = known !== undefined && known.expiresAt > clock.now() && this.find(device) === null;
    const insteadOf = isWorthless ? known.userId : undefined;
    if (!(await store.take(row, { now: clock.now(), insteadOf, isByTouch }))) {
      await this.load();
      const holder = this.find(device) === null ? undefined : this.#ofDevice.get(device.id);
      if (known?.id === lease.id) this.requireFree(device, { userId: lease.userId, leaseId: lease.id });
      else if (holder !== undefined) this.#refuse(device, holder);
      // The conflicting lease has ended in the meantime.
      return this.#keep(device, lease, isByTouch);
    }
    this.#ofDevice.set(device.id, lease);
  }

  #view({ userId, since, expiresAt }: Lease): DeviceLease {
    return { user: { id: userId, name: this.#options.shares.nameOf(userId) }, since, expires_at: expiresAt };
  }
}
