import type { DeviceOutcome, LaunchSecrets } from '@phalanx/protocol';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import type { RecipientStore } from './recipient-store.ts';

type SecretDevice = Pick<FleetDevice, 'id' | 'serial' | 'ownerId'>;

interface Options {
  recipients: Pick<RecipientStore, 'listReceivers'>;
  /** Returns the values of a project's secrets by name. Throws `secrets_unavailable`. */
  secretsOf: (projectId: string) => Promise<LaunchSecrets>;
  nameOf: (userId: string) => string;
}

/**
 * Grants secrets to hosts of the project's owner, its editors and its recipients. Secrets reach hosts in no other way.
 */
export class SecretGrants {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Returns the users on whose hosts the project's automations may run. Undefined for any host, if there are no
   * secrets.
   */
  async findReceivers(projectId: string): Promise<ReadonlySet<string> | undefined> {
    return (await this.listReceivers([projectId])).get(projectId);
  }

  /** Lists the users of `findReceivers` by project. Omits projects without secrets. */
  listReceivers(projectIds: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    return this.#options.recipients.listReceivers(projectIds);
  }

  /**
   * Returns the values for the hosts of these phones. Throws `secrets_withheld`, with an outcome per phone when there
   * are several.
   */
  async grant(projectId: string, devices: readonly SecretDevice[]): Promise<LaunchSecrets> {
    const values = await this.#options.secretsOf(projectId);
    if (Object.keys(values).length === 0) return values;
    const receivers = await this.findReceivers(projectId);
    const others = devices.filter(({ ownerId }) => receivers?.has(ownerId) !== true);
    if (others.length === 0) return values;
    throw this.#withheld(projectId, devices, others);
  }

  /**
   * Returns the values for a host that already has its run. Returns no values instead of throwing `secrets_withheld`.
   */
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
