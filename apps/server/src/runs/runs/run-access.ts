import { reachesProject } from '../../http/requests/policy.ts';
import { boundedCache } from '../../kernel/bounded-cache.ts';
import type { DeviceAccess, SeenDevice } from '../../fleet/devices/device-access.ts';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from '../../http/requests/principal.ts';
import type { ProjectPeople } from '../../code/projects/project-access.ts';
import type { RunStore } from './store.ts';
import { originOf, type RunOrigin, type StoredRun } from './stored-run.ts';

interface Options {
  store: RunStore;
  devices: DeviceAccess;
  people: ProjectPeople;
}

const maxRemembered = 10_000;

/**
 * Decides who may read a run: its launcher, and the users who have access to both its project and its phone. Direct
 * code is visible only to its launcher.
 */
export class RunAccess {
  readonly #options: Options;
  /** Phones on which users other than their owners have launched, as far as this server knows. */
  readonly #foreign = new Set<string>();
  readonly #ownDirect = boundedCache<true>(maxRemembered);

  constructor(options: Options) {
    this.#options = options;
  }

  async load(): Promise<void> {
    for (const deviceId of await this.#options.store.listForeignDevices()) this.#foreign.add(deviceId);
  }

  /** Registers a launched run. Call it for every launched run. */
  note(run: StoredRun): void {
    if (run.user_id !== run.device_owner_id) this.#foreign.add(run.device_id);
  }

  /**
   * Returns the run when the caller may read it; otherwise throws `run_not_found`. `id` is the ID as given by the
   * caller.
   */
  async getReadable<Run extends StoredRun>(
    run: Run | undefined,
    principal: Principal,
    id: string,
  ): Promise<Run> {
    if (run !== undefined && reachesProject(principal, run.automation_id)) {
      if ((await this.listReaders(originOf(run))).includes(principal.userId)) return run;
    }
    throw ApiError.of('run_not_found', { run_id: id });
  }

  /**
   * Returns the run like `getReadable`. The owner of a phone also gets every other run on it, unless the token is
   * limited to projects.
   */
  async getStoppable(run: StoredRun | undefined, principal: Principal, id: string): Promise<StoredRun> {
    if (run?.device_owner_id === principal.userId && principal.projectIds === null) return run;
    return this.getReadable(run, principal, id);
  }

  async listReaders(run: RunOrigin): Promise<string[]> {
    if (run.isDirect) return [run.userId];
    const { devices, people } = this.#options;
    const device = await devices.fleet.find(run.deviceId);
    if (device === undefined || !this.#isShared(run, device)) return [run.userId];
    const roles = await people.of(run.automationId);
    // Read after the await, so that a share that ended meanwhile no longer counts.
    const others = devices.shares.usersOf(device).filter((id) => roles.has(id));
    return [...new Set([run.userId, ...others])];
  }

  /**
   * Lists the recipients of events about a run: the launcher, and the users who have accepted both the project and the
   * phone.
   */
  async listRecipients(run: RunOrigin): Promise<string[]> {
    const { devices, people } = this.#options;
    const readers = await this.listReaders(run);
    const others = readers.filter((userId) => userId !== run.userId);
    if (others.length === 0) return readers;
    const accepted = await people.acceptedOf(run.automationId);
    const device = await devices.fleet.find(run.deviceId);
    const onDevice = new Set(device === undefined ? [] : devices.shares.acceptedUsersOf(device));
    return [run.userId, ...others.filter((userId) => accepted.has(userId) && onDevice.has(userId))];
  }

  #isShared(run: RunOrigin, device: FleetDevice): boolean {
    return this.#options.devices.shares.usersOf(device).some((userId) => userId !== run.userId);
  }

  /** Lists the own and accepted phones on which other users may have runs that are visible to the user. */
  async listOtherDevicesForWork(userId: string): Promise<string[]> {
    const { devices } = this.#options;
    if (!devices.shares.hasAny(userId) && this.#foreign.size === 0 && !devices.shares.areAny) return [];
    const others: string[] = [];
    for await (const seen of devices.listForWork(userId))
      for (const one of seen) if (this.#mayHaveOthers(one)) others.push(one.device.id);
    return others;
  }

  /** Returns the named phone when the user may read other users' runs on it, whether the share is accepted or not. */
  async listNamedDevice(userId: string, deviceId: string): Promise<string[]> {
    const seen = await this.#options.devices.find(deviceId, userId);
    return seen !== undefined && this.#mayHaveOthers(seen) ? [seen.device.id] : [];
  }

  #mayHaveOthers({ device, role }: SeenDevice): boolean {
    return role !== 'owner' || this.#mayBeForeign(device);
  }

  /** Selects the automations whose log entries on this phone the user may read. */
  async selectReadable(
    userId: string,
    device: FleetDevice,
    automationIds: readonly string[],
  ): Promise<readonly string[]> {
    if (device.ownerId === userId && !this.#mayBeForeign(device)) return automationIds;
    const readable = await Promise.all(automationIds.map((id) => this.#isReadable(userId, id)));
    return automationIds.filter((_, index) => readable[index]);
  }

  /**
   * Whether users other than its owner may have launched on the phone, at any server. All other phones need no
   * permission lookup.
   */
  #mayBeForeign(device: FleetDevice): boolean {
    return this.#foreign.has(device.id) || this.#options.devices.shares.wasShared(device);
  }

  async #isReadable(userId: string, automationId: string): Promise<boolean> {
    if ((await this.#options.people.of(automationId)).has(userId)) return true;
    const key = `${userId} ${automationId}`;
    if (this.#ownDirect.has(key)) return true;
    const isOwn = await this.#options.store.hasLaunched(userId, automationId);
    if (isOwn) this.#ownDirect.set(key, true);
    return isOwn;
  }
}
