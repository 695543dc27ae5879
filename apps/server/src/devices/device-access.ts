import type { DeviceRole, ShareRole } from '@phalanx/protocol';
import { ApiError } from '../errors/api-error.ts';
import { mergePages } from '../http/replies/list-replies.ts';
import type { PhoneLabels } from './labels/phone-labels.ts';
import type { FleetDevice } from './fleet-device.ts';
import type { Fleet } from './fleet.ts';
import type { Leases } from './leases/leases.ts';
import type { DevicePage } from './device-placement-store.ts';
import type { ShareStore, ShareTarget, StoredShare } from './store.ts';
import type { Principal } from '../http/principal.ts';

/** Read and shown in about two milliseconds. */
const devicesAtOnce = 250;

/** A phone, and what the caller may do with it. */
export interface SeenDevice {
  readonly device: FleetDevice;
  readonly role: DeviceRole;
}

/** The fleet as one user sees it: their own phones and those that are shared with them. */
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

  /** By ID. */
  async findAll(ids: readonly string[], userId: string): Promise<Map<string, SeenDevice>> {
    const devices = await this.fleet.findAll(ids);
    const seen = [...devices.values()].flatMap((device) => this.#see(device, userId) ?? []);
    return new Map(seen.map((one) => [one.device.id, one]));
  }

  /** All after the cursor in the order of their IDs, some at a time with a turn of the event loop between them. */
  async *listAfter(userId: string, cursor: string): AsyncGenerator<SeenDevice[]> {
    const ownerIds = [userId, ...this.shares.listOwners(userId)];
    for (let after: string | undefined = cursor; after !== undefined;) {
      const page: DevicePage = { after, limit: devicesAtOnce };
      const devices: FleetDevice[] = await mergePages(
        ownerIds.map((ownerId) => () => this.fleet.listPageOf(ownerId, page)),
        ({ id }) => id,
        devicesAtOnce,
      );
      yield devices.flatMap((device) => this.#see(device, userId) ?? []);
      after = devices.length < devicesAtOnce ? undefined : devices.at(-1)?.id;
    }
  }

  /** Throws `device_not_found` for whoever has no part in it. */
  async get(id: string, userId: string): Promise<SeenDevice> {
    return this.#require(await this.fleet.find(id), id, userId);
  }

  /** The same with a phone as `Fleet.findCached` gives it. */
  async getCached(id: string, userId: string): Promise<SeenDevice> {
    return this.#require(await this.fleet.findCached(id), id, userId);
  }

  /** Members know the phone, so they are told why; to anyone else it does not exist. */
  async getOwn(id: string, userId: string): Promise<FleetDevice> {
    const { device, role } = await this.get(id, userId);
    if (role === 'owner') return device;
    throw ApiError.of('forbidden', { reason: 'Only the owner of a device shares or forgets it' });
  }

  /** Throws `device_busy`. */
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

const keyOf = ({ owner_id, kind, target_id }: ShareTarget): string => `${owner_id} ${kind} ${target_id}`;

interface Shared {
  target: ShareTarget;
  members: Map<string, ShareRole>;
}

export const deviceTarget = (device: Pick<FleetDevice, 'id' | 'ownerId'>): ShareTarget => ({
  owner_id: device.ownerId,
  kind: 'device',
  target_id: device.id,
});

export const hostTarget = (ownerId: string, hostId: string): ShareTarget => ({
  owner_id: ownerId,
  kind: 'host',
  target_id: hostId,
});

interface NewShare {
  target: ShareTarget;
  userId: string;
  role: ShareRole;
}

/** Who may do what with whose phones; in memory, because every launch and every reader of events asks. */
export class DeviceShares {
  readonly #store: ShareStore;
  #shared = new Map<string, Shared>();
  /** How many shares each user has of others. */
  #counts = new Map<string, number>();
  readonly #names = new Map<string, string>();
  /** What has been shared since the start, though it may not be any more. */
  readonly #everShared = new Set<string>();
  readonly #listeners: (() => void)[] = [];
  #changes = 0;

  constructor(store: ShareStore) {
    this.#store = store;
  }

  /** Call it at the start, and when another server may have changed something. */
  async load(): Promise<void> {
    for (const { id, name } of await this.#store.listUsers()) this.#names.set(id, name);
    for (let before = -1; before !== this.#changes;) {
      before = this.#changes;
      const shares = await this.#store.listAll();
      // Else what was read before a change would undo it.
      if (before === this.#changes) this.#replace(shares);
    }
    this.#tell();
  }

  /** Registers who is told that somebody may see less than before. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  /** A user's name; users that came after the start are known once they connect a host or are given a share. */
  nameOf(userId: string): string {
    return this.#names.get(userId) ?? '';
  }

  noteName(userId: string, name: string): void {
    this.#names.set(userId, name);
  }

  /** False: nobody has shared anything since the start. */
  get areAny(): boolean {
    return this.#everShared.size > 0;
  }

  /** False: the user has no part in anybody else's phones. */
  hasAny(userId: string): boolean {
    return (this.#counts.get(userId) ?? 0) > 0;
  }

  /** Who shares something with the user. */
  listOwners(userId: string): string[] {
    if (!this.hasAny(userId)) return [];
    const shared = [...this.#shared.values()].filter(({ members }) => members.has(userId));
    return [...new Set(shared.map(({ target }) => target.owner_id))];
  }

  find(target: ShareTarget, userId: string): ShareRole | undefined {
    return this.#shared.get(keyOf(target))?.members.get(userId);
  }

  /** The stronger one of what the phone and its host give. */
  roleOf(userId: string, device: FleetDevice): DeviceRole | undefined {
    if (device.ownerId === userId) return 'owner';
    const roles = this.#targetsOf(device).map((target) => this.find(target, userId));
    return roles.find((role) => role === 'launch') ?? roles.find((role) => role !== undefined);
  }

  /** Whether others than the owner may have had a part in it since the start. */
  wasShared(device: FleetDevice): boolean {
    return this.#targetsOf(device).some((target) => this.#everShared.has(keyOf(target)));
  }

  /** The owner and everybody who shares the phone. */
  usersOf(device: FleetDevice): string[] {
    const members = this.#targetsOf(device).flatMap((target) => [
      ...(this.#shared.get(keyOf(target))?.members.keys() ?? []),
    ]);
    return [...new Set([device.ownerId, ...members])];
  }

  listMembers(target: ShareTarget): { userId: string; role: ShareRole }[] {
    return [...(this.#shared.get(keyOf(target))?.members ?? [])].map(([userId, role]) => ({ userId, role }));
  }

  /** Returns the user's name; undefined: there is no such user. */
  async put(
    { target, userId, role }: NewShare,
    onSharing: (name: string) => void,
  ): Promise<string | undefined> {
    const name = await this.#store.findUserName(userId);
    if (name === undefined) return undefined;
    onSharing(name);
    await this.#store.put({ ...target, user_id: userId, role });
    this.noteName(userId, name);
    this.#set(target, userId, role);
    return name;
  }

  async delete(target: ShareTarget, userId: string): Promise<void> {
    await this.#store.delete(target, userId);
    this.#remove(target, userId);
    this.#tell();
  }

  /** Call it when the target is gone. */
  async forget(target: ShareTarget): Promise<void> {
    await this.#store.deleteAll(target);
    for (const { userId } of this.listMembers(target)) this.#remove(target, userId);
    this.#tell();
  }

  /** Call it when a user is deleted: what is stored goes with them. */
  forgetUser(userId: string): void {
    for (const { target, members } of this.#shared.values()) {
      const gone = target.owner_id === userId ? [...members.keys()] : [userId];
      for (const id of gone) this.#remove(target, id);
    }
  }

  #replace(shares: readonly StoredShare[]): void {
    this.#shared = new Map();
    this.#counts = new Map();
    for (const share of shares) this.#add(share, share.user_id, share.role);
  }

  #targetsOf(device: FleetDevice): ShareTarget[] {
    return [deviceTarget(device), hostTarget(device.ownerId, device.stored.host_id)];
  }

  #set(target: ShareTarget, userId: string, role: ShareRole): void {
    this.#changes += 1;
    this.#add(target, userId, role);
  }

  #add(target: ShareTarget, userId: string, role: ShareRole): void {
    this.#everShared.add(keyOf(target));
    const { members } = this.#shared.get(keyOf(target)) ?? { members: new Map<string, ShareRole>() };
    if (!members.has(userId)) this.#counts.set(userId, (this.#counts.get(userId) ?? 0) + 1);
    this.#shared.set(keyOf(target), { target, members: members.set(userId, role) });
  }

  #remove(target: ShareTarget, userId: string): void {
    this.#changes += 1;
    const members = this.#shared.get(keyOf(target))?.members;
    if (members?.delete(userId) !== true) return;
    this.#counts.set(userId, (this.#counts.get(userId) ?? 1) - 1);
    if (members.size === 0) this.#shared.delete(keyOf(target));
  }
}

/** Throws unless the caller may touch it. */
export async function getTouchable(
  access: DeviceAccess,
  id: string,
  { userId }: Principal,
): Promise<SeenDevice> {
  const seen = await access.get(id, userId);
  if (seen.role === 'view')
    throw ApiError.of('forbidden', { reason: 'This device is shared with you for looking only' });
  return seen;
}
