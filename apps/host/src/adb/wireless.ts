import { AdbServerClient } from '@yume-chan/adb';

export const connectService = '_adb-tls-connect._tcp';
export const pairingService = '_adb-tls-pairing._tcp';

/** A phone that an adb server sees by mDNS. */
export interface WirelessService {
  /** `adb-SERIAL-xxxxxx` of one that can be connected, any of one that waits for its pairing. */
  readonly name: string;
  readonly type: string;
  /** With its port. */
  readonly address: string;
}

/** Whether adb dials the phone with this name, rather than having it at USB or as an emulator. */
export const isNetworkName = (serial: string): boolean => /:\d+$|\._tcp\.?$/.test(serial);

/** Rejects where the server has no mDNS, as adb before release 30. */
export async function listWirelessServices(client: AdbServerClient): Promise<WirelessService[]> {
  const services = await client.mDns.getServices();
  return services.map(({ name, service, address }) => ({
    name,
    // Some releases end it with a dot.
    type: service.replace(/\.$/, ''),
    address,
  }));
}

/** Where a phone on the network is that is no longer at its port: wireless debugging has another one after each restart. */
export async function findOtherAddress(client: AdbServerClient, serial: string): Promise<string | undefined> {
  const services = await listWirelessServices(client).catch(() => []);
  const isThere = ({ type, address }: WirelessService): boolean =>
    type === connectService && hostOf(address) === hostOf(serial) && address !== serial;
  return services.find(isThere)?.address;
}

/** Has the adb server connect a phone; one that is connected already stays so. */
export async function connectTo(client: AdbServerClient, address: string): Promise<void> {
  await client.wireless.connect(address).catch((error: unknown) => {
    if (!(error instanceof AdbServerClient.AlreadyConnectedError)) throw error;
  });
}

const hostOf = (address: string): string => address.slice(0, Math.max(0, address.lastIndexOf(':')));
