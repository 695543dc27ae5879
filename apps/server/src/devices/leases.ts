import type { DeviceLease, DeviceRole } from '@phalanx/protocol';

import type { Clock } from '../clock.ts';
import { ApiError } from '../http/api-error.ts';
import type { FleetDevice } from './fleet-device.ts';
import type { Fleet } from './fleet.ts';

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
}

/**
 * Who has which phone in hand. In memory: a lease is short, and its holder asks again. It is worth nothing once it has
 * expired, or its holder may no longer touch the phone.
 */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #ofDevice = new Map<string, Lease>();
  #tell: (device: FleetDevice) => void = () => undefined;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** Sets who is told when a phone is taken in hand or given back. */
  onChange(tell: (device: FleetDevice) => void): void {
    this.#tell = tell;
  }

  find(device: FleetDevice): DeviceLease | null {
    const { clock, shares } = this.#options;
    const lease = this.#ofDevice.get(device.id);
    if (lease === undefined || lease.expiresAt <= clock.now()) return null;
    const role = shares.roleOf(lease.userId, device);
    return role === 'owner' || role === 'launch' ? this.#view(lease) : null;
  }

  /** Who else has it in hand, and until when. */
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

  /** Throws `device_leased`. */
  take(device: FleetDevice, userId: string, durationMs: number): DeviceLease {
    this.requireFree(device, userId);
    const before = this.find(device);
    const now = this.#options.clock.now();
    const lease = { userId, since: before?.since ?? now, durationMs, expiresAt: now + durationMs };
    this.#ofDevice.set(device.id, lease);
    if (before === null) this.#tell(device);
    return this.#view(lease);
  }

  /** Its holder has used it, so that it begins anew; others are refused. Throws `device_leased`. */
  use(device: FleetDevice, userId: string): void {
    this.requireFree(device, userId);
    const lease = this.#ofDevice.get(device.id);
    if (this.find(device) !== null && lease !== undefined)
      lease.expiresAt = this.#options.clock.now() + lease.durationMs;
  }

  /** False: there was none. */
  end(device: FleetDevice): boolean {
    const wasLeased = this.find(device) !== null;
    this.#ofDevice.delete(device.id);
    if (wasLeased) this.#tell(device);
    return wasLeased;
  }

  /** Tells of the leases that have ended without a word. */
  async sweep(fleet: Pick<Fleet, 'findAll'>): Promise<void> {
    const ids = [...this.#ofDevice.keys()];
    const devices = ids.length === 0 ? undefined : await fleet.findAll(ids);
    for (const id of ids) {
      const device = devices?.get(id);
      if (device !== undefined && this.find(device) !== null) continue;
      this.#ofDevice.delete(id);
      if (device !== undefined) this.#tell(device);
    }
  }

  #view({ userId, since, expiresAt }: Lease): DeviceLease {
    return { user: { id: userId, name: this.#options.shares.nameOf(userId) }, since, expires_at: expiresAt };
  }
}
