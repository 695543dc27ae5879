import type { DeviceRole, ShareRole } from '@phalanx/protocol';
import { Reloading } from '../../kernel/reloading.ts';
import type { Acceptance } from '../../http/acceptance.ts';
import type { FleetDevice } from './fleet-device.ts';
import type { ShareStore, ShareTarget, StoredShare } from './share-store.ts';

/** Key of a device or host, for maps. */
export const targetKey = ({ owner_id, kind, target_id }: ShareTarget): string =>
  `${owner_id} ${kind} ${target_id}`;

/** Role that a user was given, and whether they have accepted it. */
interface Membership {
  readonly role: ShareRole;
  readonly isAccepted: boolean;
}

export interface ShareMember extends Membership {
  readonly userId: string;
}

interface Shared {
  target: ShareTarget;
  members: Map<string, Membership>;
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
  readonly target: ShareTarget;
  readonly userId: string;
  readonly role: ShareRole;
  /** Epoch ms. */
  readonly now: number;
}

const membershipOf = ({ role, accepted_at }: StoredShare): Membership => ({
  role,
  isAccepted: accepted_at !== null,
});

/**
 * Returns the strongest of several roles. Callers pass the memberships of both targets, so that a pending stronger role
 * does not hide an accepted weaker one.
 */
function strongest(memberships: readonly (Membership | undefined)[]): ShareRole | undefined {
  const roles = memberships.map((one) => one?.role);
  return roles.find((role) => role === 'launch') ?? roles.find((role) => role !== undefined);
}

/** Roles of users on phones of other users. Kept in memory, because every launch and every event reader checks them. */
export class DeviceShares {
  readonly #store: ShareStore;
  #shared = new Map<string, Shared>();
  /** Number of shares that each user has received. */
  #counts = new Map<string, number>();
  readonly #names = new Map<string, string>();
  /** Targets that have been shared at any time since startup, even if they no longer are. */
  readonly #everShared = new Set<string>();
  readonly #listeners: (() => void)[] = [];
  readonly #reloading = new Reloading();

  constructor(store: ShareStore) {
    this.#store = store;
  }

  /** Loads all shares. Call it at startup, and when another server may have changed something. */
  async load(): Promise<void> {
    for (const { id, name } of await this.#store.listUsers()) this.#names.set(id, name);
    await this.#reloading.reload(
      () => this.#store.listAll(),
      (shares) => this.#replace(shares),
    );
    this.#notify();
  }

  /** Registers a listener for changes after which a user may see less than before. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Returns the name of a user. Users created after startup are known once they connect a host or receive a share. */
  nameOf(userId: string): string {
    return this.#names.get(userId) ?? '';
  }

  noteName(userId: string, name: string): void {
    this.#names.set(userId, name);
  }

  /** Whether anything has been shared since startup. */
  get areAny(): boolean {
    return this.#everShared.size > 0;
  }

  /** Whether the user has received any share. */
  hasAny(userId: string): boolean {
    return (this.#counts.get(userId) ?? 0) > 0;
  }

  /** Lists the owners who share something with the user. */
  listOwners(userId: string): string[] {
    return this.#ownersOf(userId, () => true);
  }

  /** Lists the owners from whom the user has accepted something. */
  listAcceptedOwners(userId: string): string[] {
    return this.#ownersOf(userId, ({ isAccepted }) => isAccepted);
  }

  #ownersOf(userId: string, counts: (membership: Membership) => boolean): string[] {
    if (!this.hasAny(userId)) return [];
    const shared = [...this.#shared.values()].filter(({ members }) => {
      const membership = members.get(userId);
      return membership !== undefined && counts(membership);
    });
    return [...new Set(shared.map(({ target }) => target.owner_id))];
  }

  /**
   * Lists all targets of one kind with this ID that are shared with the user. There may be several, because owners
   * choose the IDs of their hosts.
   */
  listTargets(userId: string, kind: ShareTarget['kind'], id: string): ShareTarget[] {
    const isMeant = ({ target, members }: Shared): boolean =>
      target.kind === kind && target.target_id.toLowerCase() === id.toLowerCase() && members.has(userId);
    return [...this.#shared.values()].filter(isMeant).map(({ target }) => target);
  }

  find(target: ShareTarget, userId: string): ShareRole | undefined {
    return this.#membership(target, userId)?.role;
  }

  isAccepted(target: ShareTarget, userId: string): boolean {
    return this.#membership(target, userId)?.isAccepted === true;
  }

  #membership(target: ShareTarget, userId: string): Membership | undefined {
    return this.#shared.get(targetKey(target))?.members.get(userId);
  }

  /** Returns the stronger of the roles that the phone and its host grant, for a user who names the phone by its ID. */
  roleOf(userId: string, device: FleetDevice): DeviceRole | undefined {
    if (device.ownerId === userId) return 'owner';
    return strongest(this.#targetsOf(device).map((target) => this.#membership(target, userId)));
  }

  /**
   * Returns the role that the user has accepted. Without it, work of the user runs on the phone only if it names the
   * phone.
   */
  workRoleOf(userId: string, device: FleetDevice): DeviceRole | undefined {
    if (device.ownerId === userId) return 'owner';
    const memberships = this.#targetsOf(device).map((target) => this.#membership(target, userId));
    return strongest(memberships.filter((one) => one?.isAccepted === true));
  }

  /** Whether users other than the owner may have had access to the phone since startup. */
  wasShared(device: FleetDevice): boolean {
    return this.#targetsOf(device).some((target) => this.#everShared.has(targetKey(target)));
  }

  /** Returns the owner and all users with whom the phone is shared. */
  usersOf(device: FleetDevice): string[] {
    const members = this.#targetsOf(device).flatMap((target) => [
      ...(this.#shared.get(targetKey(target))?.members.keys() ?? []),
    ]);
    return [...new Set([device.ownerId, ...members])];
  }

  /** Returns the owner and the users who have accepted the phone. */
  acceptedUsersOf(device: FleetDevice): string[] {
    return this.usersOf(device).filter((userId) => this.workRoleOf(userId, device) !== undefined);
  }

  listMembers(target: ShareTarget): ShareMember[] {
    return [...(this.#shared.get(targetKey(target))?.members ?? [])].map(([userId, membership]) => ({
      userId,
      ...membership,
    }));
  }

  /** Stores a share. Returns its acceptance and the user's name, or undefined when the user does not exist. */
  async put(
    { target, userId, role, now }: NewShare,
    onSharing: (name: string) => void,
  ): Promise<{ name: string; isAccepted: boolean } | undefined> {
    const name = await this.#store.findUserName(userId);
    if (name === undefined) return undefined;
    onSharing(name);
    const share = { ...target, user_id: userId, role, shared_at: now, accepted_at: null };
    const membership = membershipOf(await this.#store.put(share));
    this.noteName(userId, name);
    this.#set(target, userId, membership);
    return { name, isAccepted: membership.isAccepted };
  }

  /**
   * Accepts a share. Returns false when the target is no longer shared with the user, or is shared with another role.
   */
  async accept(target: ShareTarget, acceptance: Acceptance): Promise<boolean> {
    const share = await this.#store.accept(target, acceptance);
    if (share === undefined) return false;
    this.#set(target, acceptance.userId, membershipOf(share));
    return true;
  }

  async delete(target: ShareTarget, userId: string): Promise<void> {
    await this.#store.delete(target, userId);
    this.#remove(target, userId);
    this.#notify();
  }

  /** Deletes all shares of a target. Call it when the target is deleted. */
  async forget(target: ShareTarget): Promise<void> {
    await this.#store.deleteAll(target);
    for (const { userId } of this.listMembers(target)) this.#remove(target, userId);
    this.#notify();
  }

  /**
   * Forgets the shares of a user. Call it when the user is deleted; the database deletes the rows together with the
   * user.
   */
  forgetUser(userId: string): void {
    for (const { target, members } of this.#shared.values()) {
      const gone = target.owner_id === userId ? [...members.keys()] : [userId];
      for (const id of gone) this.#remove(target, id);
    }
  }

  #replace(shares: readonly StoredShare[]): void {
    this.#shared = new Map();
    this.#counts = new Map();
    for (const share of shares) this.#add(share, share.user_id, membershipOf(share));
  }

  #targetsOf(device: FleetDevice): ShareTarget[] {
    return [deviceTarget(device), hostTarget(device.ownerId, device.stored.host_id)];
  }

  #set(target: ShareTarget, userId: string, membership: Membership): void {
    this.#reloading.noteChange();
    this.#add(target, userId, membership);
  }

  #add(target: ShareTarget, userId: string, membership: Membership): void {
    this.#everShared.add(targetKey(target));
    const { members } = this.#shared.get(targetKey(target)) ?? { members: new Map<string, Membership>() };
    if (!members.has(userId)) this.#counts.set(userId, (this.#counts.get(userId) ?? 0) + 1);
    this.#shared.set(targetKey(target), { target, members: members.set(userId, membership) });
  }

  #remove(target: ShareTarget, userId: string): void {
    this.#reloading.noteChange();
    const members = this.#shared.get(targetKey(target))?.members;
    if (members?.delete(userId) !== true) return;
    this.#counts.set(userId, (this.#counts.get(userId) ?? 1) - 1);
    if (members.size === 0) this.#shared.delete(targetKey(target));
  }
}
