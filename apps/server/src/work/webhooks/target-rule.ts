import { type AddressRule, isPublicAddress, readNetworks } from '@phalanx/egress';
import { SettingError, type SettingFormat } from '@phalanx/settings';

/** Format of the networks that webhooks may reach in addition to the public internet. */
export const networkList: SettingFormat<(address: string) => boolean> = {
  allowed: 'networks such as 10.1.0.0/16 and addresses, with commas; none',
  parse(text, name) {
    try {
      return readNetworks(text === 'none' ? [] : text.split(',').map((item) => item.trim()));
    } catch {
      throw new SettingError(
        `${name} is ${JSON.stringify(text.slice(0, 100))}: give networks such as 10.1.0.0/16 or addresses, with commas; or none.`,
      );
    }
  },
};

export const createTargetRule = (isInNetworks: (address: string) => boolean): AddressRule => ({
  isAllowed: (address) => isPublicAddress(address) || isInNetworks(address),
  refusal: (host) =>
    new Error(
      `${host} has no public address; the operator of the service can allow it with the setting PHALANX_WEBHOOK_NETWORKS`,
    ),
});
