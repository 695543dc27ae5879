import type { DeviceLease, DeviceRole } from '@phalanx/protocol';

import type { Clock } from '../clock.ts';
import { ApiError } from '../errors/api-error.ts';
import type { FleetDevice } from './fleet-device.ts';
import type { Fleet } from './fleet.ts';
import type { LeaseStore, StoredLease } from './lease-store.ts';

interface Lease {
  readonly userId: string;
  readonly since: number;
  readonly durationMs: number;
  expiresAt: number;
}

/** Who may do what with whose phones, and what they are called. */
interface Roles {
  roleOf(userId: string, device: FleetDevice): DeviceRole | undefined;
  nameOf(userId: string): string;
}

interface LeasesOptions {
  clock: Clock;
  shares: Roles;
  store: LeaseStore;
}

const leaseOf = ({ user_id, since, duration_ms, expires_at }: StoredLease): Lease => ({
  ...{ userId: user_id, since, durationMs: duration_ms, expiresAt: expires_at },
});

/** What a holder's next touch adds less than is not stored for itself. */
const leastExtensionMs = 1000;

/**
 * The leases of devices, cached from the rows. A lease is worth nothing once it has expired, or its holder may no
 * longer touch the device.
 */
export class Leases {
  readonly #options: LeasesOptions;
  #ofDevice = new Map<string, Lease>();
  #tell: (device: FleetDevice) => void = () => undefined;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** Sets who is told when a lease begins or ends. */
  onChange(tell: (device: FleetDevice) => void): void {
    this.#tell = tell;
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

  /** Throws `device_leased` when it is in the hand of somebody else. */
  requireFree(device: FleetDevice, userId: string): void {
    const other = this.findOther(device, userId);
    if (other !== undefined) throw ApiError.of('device_leased', { device_id: device.id, ...other });
  }

  /**
   * The same by the row, for the server of the device's host: its cache may be a second old, and the request may have
   * waited.
   */
  async requireFreeNow(device: FleetDevice, userId: string): Promise<void> {
    this.#know(device.id, await this.#options.store.find(device.id));
    this.requireFree(device, userId);
  }

  /** Throws `device_leased`. */
  async take(device: FleetDevice, userId: string, durationMs: number): Promise<DeviceLease> {
    this.requireFree(device, userId);
    const before = this.find(device);
    const now = this.#options.clock.now();
    const lease = { userId, since: before?.since ?? now, durationMs, expiresAt: now + durationMs };
    await this.#keep(device, lease);
    if (before === null) this.#tell(device);
    return this.#view(lease);
  }

  /** Its holder has used it, so that it begins anew; others are refused. Throws `device_leased`. */
  async use(device: FleetDevice, userId: string): Promise<void> {
    this.requireFree(device, userId);
    const lease = this.#ofDevice.get(device.id);
    if (this.find(device) === null || lease === undefined) return;
    const expiresAt = this.#options.clock.now() + lease.durationMs;
    if (expiresAt - lease.expiresAt >= leastExtensionMs) await this.#keep(device, { ...lease, expiresAt });
  }

  /** False: there was none. */
  async end(device: FleetDevice): Promise<boolean> {
    const wasLeased = this.find(device) !== null;
    await this.#options.store.delete(device.id);
    this.#ofDevice.delete(device.id);
    if (wasLeased) this.#tell(device);
    return wasLeased;
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
      if (device !== undefined) this.#tell(device);
    }
  }

  /** Throws `device_leased` when another server was faster. */
  async #keep(device: FleetDevice, lease: Lease): Promise<void> {
    const { store, clock } = this.#options;
    const { userId: user_id, since, durationMs: duration_ms, expiresAt: expires_at } = lease;
    const row = { device_id: device.id, user_id, since, duration_ms, expires_at };
    const known = this.#ofDevice.get(device.id);
    // Of one that has expired here, only the row knows whether it was used at another server meanwhile.
    const isWorthless = known !== undefined && known.expiresAt > clock.now() && this.find(device) === null;
    const insteadOf = isWorthless ? known.userId : undefined;
    if (!(await store.take(row, clock.now(), insteadOf))) {
      await this.load();
      this.requireFree(device, lease.userId);
    }
    this.#ofDevice.set(device.id, lease);
  }

  #view({ userId, since, expiresAt }: Lease): DeviceLease {
    return { user: { id: userId, name: this.#options.shares.nameOf(userId) }, since, expires_at: expiresAt };
  }
}
