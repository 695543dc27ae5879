import type { DeviceRole } from '@phalanx/protocol';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { mergePages } from '../../http/requests/replies/page.ts';
import type { PhoneLabels } from './labels/phone-labels.ts';
import type { FleetDevice } from './fleet-device.ts';
import { type DeviceShares, deviceTarget } from './device-shares.ts';
import type { Fleet } from './fleet.ts';
import type { Leases } from './leases/leases.ts';
import type { DevicePage } from './device-placement-store.ts';

/** Number of devices in one batch: reading and rendering a batch takes about 2 ms. */
const devicesAtOnce = 250;
/**
 * Maximum number of phones that one count scans, so that a user who shares thousands can't slow down other requests.
 */
const maxLookedAt = 1000;

/** Phone, with the role of the caller on it. */
export interface SeenDevice {
  readonly device: FleetDevice;
  readonly role: DeviceRole;
}

/** Access to the fleet per user: their own phones and those that are shared with them. */
export class DeviceAccess {
  readonly fleet: Fleet;
  readonly shares: DeviceShares;
  readonly leases: Leases;
  readonly labels: PhoneLabels;

  constructor(parts: { fleet: Fleet; shares: DeviceShares; leases: Leases; labels: PhoneLabels }) {
    const { fleet, shares, leases, labels } = parts;
    this.fleet = fleet;
    this.shares = shares;
    this.leases = leases;
    this.labels = labels;
  }

  async find(id: string, userId: string): Promise<SeenDevice | undefined> {
    const device = await this.fleet.find(id);
    return device && this.#see(device, userId);
  }

  /** Finds devices by ID. */
  async findAll(ids: readonly string[], userId: string): Promise<Map<string, SeenDevice>> {
    const devices = await this.fleet.findAll(ids);
    const seen = [...devices.values()].flatMap((device) => this.#see(device, userId) ?? []);
    return new Map(seen.map((one) => [one.device.id, one]));
  }

  /** Lists all devices that the user has access to, for display. Work for a user must use `listForWork`. */
  listSeen(userId: string, cursor: string): AsyncGenerator<SeenDevice[]> {
    const { shares } = this;
    return this.#list({ cursor, ownerIds: [userId, ...shares.listOwners(userId)] }, (device) =>
      shares.roleOf(userId, device),
    );
  }

  /**
   * Lists the user's own phones and those that they have accepted, with the accepted role. Actions, counts and
   * notifications that do not name a phone by its ID must cover only these phones.
   */
  listForWork(userId: string, cursor = ''): AsyncGenerator<SeenDevice[]> {
    const { shares } = this;
    return this.#list({ cursor, ownerIds: [userId, ...shares.listAcceptedOwners(userId)] }, (device) =>
      shares.workRoleOf(userId, device),
    );
  }

  /**
   * Counts the phones shared with the role `launch` that would be chosen if the user accepted them. Stops after
   * `maxLookedAt` devices.
   */
  async countWaiting(userId: string, isWanted: (device: FleetDevice) => boolean): Promise<number> {
    if (!this.shares.hasAny(userId)) return 0;
    let [count, lookedAt] = [0, 0];
    for await (const seen of this.listSeen(userId, '')) {
      for (const { device, role } of seen)
        if (role === 'launch' && this.shares.workRoleOf(userId, device) !== role && isWanted(device))
          count += 1;
      lookedAt += devicesAtOnce;
      if (lookedAt >= maxLookedAt) break;
    }
    return count;
  }

  /** Lists devices after the cursor, ordered by ID, in batches with a turn of the event loop in between. */
  async *#list(
    { cursor, ownerIds }: { cursor: string; ownerIds: readonly string[] },
    roleOf: (device: FleetDevice) => DeviceRole | undefined,
  ): AsyncGenerator<SeenDevice[]> {
    for (let after: string | undefined = cursor; after !== undefined;) {
      const page: DevicePage = { after, limit: devicesAtOnce };
      const devices: FleetDevice[] = await mergePages(
        ownerIds.map((ownerId) => () => this.fleet.listPageOf(ownerId, page)),
        ({ id }) => id,
        devicesAtOnce,
      );
      yield devices.flatMap((device) => {
        const role = roleOf(device);
        return role === undefined ? [] : [{ device, role }];
      });
      after = devices.length < devicesAtOnce ? undefined : devices.at(-1)?.id;
    }
  }

  /** Throws `device_not_found` for users without access to the device. */
  async get(id: string, userId: string): Promise<SeenDevice> {
    return this.#require(await this.fleet.find(id), id, userId);
  }

  /** Returns a phone as read by `Fleet.findCached`. Throws `device_not_found` for users without access to it. */
  async getCached(id: string, userId: string): Promise<SeenDevice> {
    return this.#require(await this.fleet.findCached(id), id, userId);
  }

  /**
   * Returns a device for its owner. Throws `forbidden` for members, who know the phone, and `device_not_found` for
   * everyone else.
   */
  async getOwn(id: string, userId: string): Promise<FleetDevice> {
    const { device, role } = await this.get(id, userId);
    if (role === 'owner') return device;
    throw ApiError.of('forbidden', { reason: 'Only the owner of a device can share or forget it' });
  }

  /** Deletes a device with its shares and labels. Throws `device_busy`. */
  async forget(device: FleetDevice): Promise<void> {
    if (!(await this.fleet.deleteIdle(device))) throw ApiError.of('device_busy', { device_id: device.id });
    await this.shares.forget(deviceTarget(device));
    await this.labels.forget(deviceTarget(device));
  }

  #require(device: FleetDevice | undefined, id: string, userId: string): SeenDevice {
    const seen = device && this.#see(device, userId);
    if (seen === undefined) throw ApiError.of('device_not_found', { device_id: id });
    return seen;
  }

  #see(device: FleetDevice, userId: string): SeenDevice | undefined {
    const role = this.shares.roleOf(userId, device);
    return role && { device, role };
  }
}
