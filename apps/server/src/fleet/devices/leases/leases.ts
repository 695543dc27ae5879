import { randomUUID } from 'node:crypto';
import type { DeviceLease, DeviceRole } from '@phalanx/protocol';

import type { Clock } from '../../../kernel/clock.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import type { FleetDevice } from '../fleet-device.ts';
import type { Fleet } from '../fleet.ts';
import type { LeaseStore, StoredLease } from './lease-store.ts';

interface Lease {
  /** ID of this claim: the program that shows it is the one that has the device. */
  readonly id: string;
  readonly userId: string;
  /** Whether not even its user touches the device without the ID. */
  readonly isExclusive: boolean;
  readonly since: number;
  readonly durationMs: number;
  expiresAt: number;
}

/** Roles of users on phones, and the names of users. */
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
  /** The lease that they have, as far as they say. */
  readonly leaseId?: string | undefined;
}

interface LeaseRequest extends LeaseClaimant {
  readonly durationMs: number;
  readonly isExclusive?: boolean | undefined;
}

/** `changes`: how many leases of the device have begun or ended so far. */
type LeaseListener = (device: FleetDevice, changes: number) => void;

/** Minimum time by which a touch of the holder extends the stored end of a lease, in ms. */
const minExtensionMs = 1000;

/**
 * The leases of devices, cached from the rows. A lease is worth nothing once it has expired, or its holder may no
 * longer touch the device.
 */
export class Leases {
  readonly #options: LeasesOptions;
  #ofDevice = new Map<string, Lease>();
  readonly #listeners: LeaseListener[] = [];

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** Registers a listener that is told when a lease begins or ends. */
  onChange(listener: LeaseListener): void {
    this.#listeners.push(listener);
  }

  /** Resolves when all have been told. */
  async #notify(device: FleetDevice): Promise<void> {
    const changes = await this.#options.store.countChanges(device.id);
    for (const listen of this.#listeners) listen(device, changes);
  }

  /** Call it at the start, and when another server may have changed something. */
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

  /** Another user who has leased it, and until when. */
  findOther(device: FleetDevice, userId: string): { user: string; until: string } | undefined {
    const lease = this.find(device);
    if (lease === null || lease.user.id === userId) return undefined;
    return { user: lease.user.name, until: new Date(lease.expires_at).toISOString() };
  }

  /**
   * Throws `device_leased` when it is in the hand of somebody else, also of another program of the same user, and
   * `lease_lost` when the lease that is shown is not the one that holds.
   */
  requireFree(device: FleetDevice, { userId, leaseId }: LeaseClaimant): void {
    const lease = this.find(device) === null ? undefined : this.#ofDevice.get(device.id);
    const isOther = lease !== undefined && (lease.userId !== userId || (lease.isExclusive && !leaseId));
    if (isOther) this.#refuse(device, lease);
    if (leaseId !== undefined && lease?.id !== leaseId)
      throw ApiError.of('lease_lost', { device_id: device.id });
  }

  /**
   * Makes the same check by the row, for the server of the device's host: its cache may be a second old, and the
   * request may have waited. Resolves with the number of leases of the device that have begun or ended until then.
   */
  async requireFreeNow(device: FleetDevice, claimant: LeaseClaimant): Promise<number> {
    // Read before the row: a change in between counts as later than this.
    const changes = await this.#options.store.countChanges(device.id);
    await this.readNow(device);
    this.requireFree(device, claimant);
    return changes;
  }

  /** The lease by its row, which another server may have changed a moment ago. */
  async readNow(device: FleetDevice): Promise<DeviceLease | null> {
    this.#know(device.id, await this.#options.store.find(device.id));
    return this.find(device);
  }

  /** Extends the lease that its user has already. Throws `device_leased` and `lease_lost`. */
  async take(
    device: FleetDevice,
    { durationMs, isExclusive = false, ...claimant }: LeaseRequest,
  ): Promise<DeviceLease & { lease_id: string }> {
    this.requireFree(device, claimant);
    const before = this.find(device) === null ? undefined : this.#ofDevice.get(device.id);
    // A program that wants the device alone does not get a lease that another program of its user may have.
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

  /** Extends the lease that its holder has used; others are refused. Throws `device_leased` and `lease_lost`. */
  async use(device: FleetDevice, claimant: LeaseClaimant): Promise<void> {
    this.requireFree(device, claimant);
    const lease = this.#ofDevice.get(device.id);
    if (this.find(device) === null || lease === undefined) return;
    const expiresAt = this.#options.clock.now() + lease.durationMs;
    if (expiresAt - lease.expiresAt >= minExtensionMs)
      await this.#keep(device, { ...lease, expiresAt }, true);
  }

  /** Stores what was done with the device, for `readCode`. It is kept only during a lease of the user. */
  async addCode(device: FleetDevice, { userId }: LeaseClaimant, lines: readonly string[]): Promise<void> {
    const lease = this.find(device) === null ? undefined : this.#ofDevice.get(device.id);
    if (lease?.userId !== userId || lines.length === 0) return;
    await this.#options.store.addCode({ device_id: device.id, id: lease.id }, lines);
  }

  /** Throws `device_leased`, and `lease_lost` without a lease. */
  async readCode(device: FleetDevice, claimant: LeaseClaimant): Promise<string[]> {
    await this.requireFreeNow(device, claimant);
    const lease = this.find(device) === null ? undefined : this.#ofDevice.get(device.id);
    if (lease === undefined) throw ApiError.of('lease_lost', { device_id: device.id });
    return this.#options.store.readCode({ device_id: device.id, id: lease.id });
  }

  /** Ends the lease that is known here. False: it has ended already. One that was taken since is left alone. */
  async end(device: FleetDevice): Promise<boolean> {
    const lease = this.#ofDevice.get(device.id);
    if (lease === undefined) return false;
    const hasCounted = this.find(device) !== null;
    const isDeleted = await this.#options.store.delete({ device_id: device.id, id: lease.id });
    await this.readNow(device);
    if (isDeleted && hasCounted) await this.#notify(device);
    return isDeleted && hasCounted;
  }

  /** Tells of the leases that have ended without a word. */
  async sweep(fleet: Pick<Fleet, 'findAll'>): Promise<void> {
    const { store, clock } = this.#options;
    // The cache may have lost them meanwhile, by reading the rows again.
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

  /** Throws `device_leased` when another server was faster, and `lease_lost` when the lease does not hold any more. */
  async #keep(device: FleetDevice, lease: Lease, isByTouch: boolean): Promise<void> {
    const { store, clock } = this.#options;
    const { id, userId: user_id, since, durationMs: duration_ms, expiresAt: expires_at } = lease;
    const is_exclusive = Number(lease.isExclusive);
    const row = { device_id: device.id, id, user_id, since, duration_ms, expires_at, is_exclusive };
    const known = this.#ofDevice.get(device.id);
    // A lease that has expired here may have been used at another server meanwhile; the row says whether it was.
    const isWorthless = known !== undefined && known.expiresAt > clock.now() && this.find(device) === null;
    const insteadOf = isWorthless ? known.userId : undefined;
    if (!(await store.take(row, { now: clock.now(), insteadOf, isByTouch }))) {
      await this.load();
      const holder = this.find(device) === null ? undefined : this.#ofDevice.get(device.id);
      if (known?.id === lease.id) this.requireFree(device, { userId: lease.userId, leaseId: lease.id });
      else if (holder !== undefined) this.#refuse(device, holder);
      // The lease that was in the way has ended meanwhile.
      return this.#keep(device, lease, isByTouch);
    }
    this.#ofDevice.set(device.id, lease);
  }

  #view({ userId, since, expiresAt }: Lease): DeviceLease {
    return { user: { id: userId, name: this.#options.shares.nameOf(userId) }, since, expires_at: expiresAt };
  }
}
