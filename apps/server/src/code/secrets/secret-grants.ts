import type { DeviceOutcome, LaunchSecrets } from '@phalanx/protocol';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import type { RecipientStore } from './recipient-store.ts';

type SecretDevice = Pick<FleetDevice, 'id' | 'serial' | 'ownerId'>;

interface Options {
  recipients: Pick<RecipientStore, 'listReceivers'>;
  /** Values of a project's secrets, by name. Throws `secrets_unavailable`. */
  secretsOf: (projectId: string) => Promise<LaunchSecrets>;
  nameOf: (userId: string) => string;
}

/**
 * The one way by which secrets reach hosts: those of the project's owner and editors, and of users that the project
 * lists.
 */
export class SecretGrants {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Users on whose hosts automations of the project may run. Undefined when it has no secrets, so any host will do. */
  async findReceivers(projectId: string): Promise<ReadonlySet<string> | undefined> {
    return (await this.listReceivers([projectId])).get(projectId);
  }

  /** Lists these users by project. Projects without secrets are missing. */
  listReceivers(projectIds: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    return this.#options.recipients.listReceivers(projectIds);
  }

  /**
   * Returns the values for the hosts of these phones. Throws `secrets_withheld`, with each phone when there are
   * several.
   */
  async grant(projectId: string, devices: readonly SecretDevice[]): Promise<LaunchSecrets> {
    const values = await this.#options.secretsOf(projectId);
    if (Object.keys(values).length === 0) return values;
    const receivers = await this.findReceivers(projectId);
    const others = devices.filter(({ ownerId }) => receivers?.has(ownerId) !== true);
    if (others.length === 0) return values;
    throw this.#withheld(projectId, devices, others);
  }

  /** Returns the values for a host that has its run already. Returns none instead of refusing. */
  async grantOrNone(projectId: string, hostOwnerId: string): Promise<LaunchSecrets> {
    const receivers = await this.findReceivers(projectId);
    return receivers?.has(hostOwnerId) === true ? this.#options.secretsOf(projectId) : {};
  }

  #withheld(projectId: string, devices: readonly SecretDevice[], others: readonly SecretDevice[]): ApiError {
    const { nameOf } = this.#options;
    const textOf = ({ id, serial, ownerId }: SecretDevice): string =>
      `${id} ${serial} (host of ${nameOf(ownerId)})`;
    const details = { devices: boundedList(others.map(textOf), ', '), project_id: projectId };
    if (devices.length === 1) return ApiError.of('secrets_withheld', details);
    const rows = devices.map((device): DeviceOutcome => {
      const isWithheld = others.includes(device);
      return {
        device_id: device.id,
        outcome: 'refused',
        run_id: null,
        code: isWithheld ? 'secrets_withheld' : 'devices_unavailable',
        reason: isWithheld
          ? `${textOf(device)}: the project has secrets, and the owner of this host does not get them.`
          : 'Other devices are not available.',
      };
    });
    return ApiError.of('secrets_withheld', details, { devices: rows });
  }
}
