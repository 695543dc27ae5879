import type { DeviceRole } from '@phalanx/protocol';

import { ApiError } from '../http/api-error.ts';
import { deviceTarget, type DeviceShares } from './device-shares.ts';
import type { Fleet, FleetDevice } from './fleet.ts';

/** A phone, and what the caller may do with it. */
export interface SeenDevice {
  readonly device: FleetDevice;
  readonly role: DeviceRole;
}

/** The fleet as one user sees it: their own phones and those that are shared with them. */
export class DeviceAccess {
  readonly fleet: Fleet;
  readonly shares: DeviceShares;

  constructor(fleet: Fleet, shares: DeviceShares) {
    this.fleet = fleet;
    this.shares = shares;
  }

  find(id: string, userId: string): SeenDevice | undefined {
    const device = this.fleet.find(id);
    const role = device && this.shares.roleOf(userId, device);
    return device === undefined || role === undefined ? undefined : { device, role };
  }

  list(userId: string): SeenDevice[] {
    const devices = this.shares.hasAny(userId) ? this.fleet.all() : this.fleet.listOwn(userId);
    return devices.flatMap((device) => this.find(device.id, userId) ?? []);
  }

  /** Throws `device_not_found` for whoever has no part in it. */
  get(id: string, userId: string): SeenDevice {
    const seen = this.find(id, userId);
    if (seen === undefined) throw ApiError.of('device_not_found', { device_id: id });
    return seen;
  }

  /** Members know the phone, so they are told why; to anyone else it does not exist. */
  getOwn(id: string, userId: string): FleetDevice {
    const { device, role } = this.get(id, userId);
    if (role === 'owner') return device;
    throw ApiError.of('forbidden', { reason: 'Only the owner of a device shares or forgets it' });
  }

  async forget(device: FleetDevice): Promise<void> {
    await this.fleet.delete(device);
    await this.shares.forget(deviceTarget(device));
  }
}
