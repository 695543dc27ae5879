import { AdbServerClient } from '@yume-chan/adb';

import { isOwnNumber } from './own-number.ts';
import type { LinkedPhone } from './link.ts';

export const connectService = '_adb-tls-connect._tcp';
export const pairingService = '_adb-tls-pairing._tcp';
/** Service of a phone on which `adb tcpip` opened a port. */
const plainService = '_adb._tcp';

/** Phone that an adb server discovers by mDNS. */
export interface WirelessService {
  /**
   * Instance name: `adb-SERIAL-xxxxxx` for a phone that can be connected, arbitrary for one that waits for its pairing.
   */
  readonly name: string;
  readonly type: string;
  /** Address with its port. */
  readonly address: string;
}

/** Whether adb dials the phone with this name, rather than having it on USB or as an emulator. */
export const isNetworkName = (serial: string): boolean => /:\d+$|\._tcp\.?$/.test(serial);

/** Lists the services that the server discovers. Rejects when the server has no mDNS, as adb before release 30. */
export async function listWirelessServices(client: AdbServerClient): Promise<WirelessService[]> {
  const services = await client.mDns.getServices();
  return services.map(({ name, service, address }) => ({
    name,
    // Some releases end the type with a dot.
    type: service.replace(/\.$/, ''),
    address,
  }));
}

/** Address at which to connect a network phone. `stranger` is another phone that announces the address now. */
export type Whereabouts = { readonly address: string } | { readonly stranger: string };

/**
 * Finds a phone by its mDNS announcement, because its address may change with each lease and then belong to another
 * phone. Undefined when mDNS announces nothing about the phone.
 */
export async function findWhereabouts(
  client: AdbServerClient,
  serial: string,
  phone: LinkedPhone | undefined,
): Promise<Whereabouts | undefined> {
  const services = await listConnectable(client);
  const its = services.filter((service) => isOf(service, serial, phone));
  const [first] = its;
  if (its.some(({ address }) => address === serial)) return { address: serial };
  if (first !== undefined) return { address: first.address };
  const there = services.find(({ address }) => address === serial);
  const isKnown = phone?.serial !== undefined || phone?.mdnsName !== undefined;
  return there !== undefined && isKnown ? { stranger: there.name } : undefined;
}

/**
 * Finds a phone whose announcement does not identify it: at its address, under the new port that it gets with each
 * restart.
 */
export async function findOtherPort(
  client: AdbServerClient,
  serial: string,
  phone: LinkedPhone | undefined,
): Promise<string | undefined> {
  const isThere = (service: WirelessService): boolean =>
    hostOf(service.address) === hostOf(serial) &&
    service.address !== serial &&
    (phone === undefined || serialIn(service) === undefined || serialIn(service) === phone.serial);
  return (await listConnectable(client)).find(isThere)?.address;
}

/**
 * Lists phones that can be connected. Returns none without mDNS: an unannounced phone is connected by its address only.
 */
async function listConnectable(client: AdbServerClient): Promise<WirelessService[]> {
  const services = await listWirelessServices(client).catch(() => []);
  return services.filter(({ type }) => type === connectService || type === plainService);
}

function isOf(service: WirelessService, serial: string, phone: LinkedPhone | undefined): boolean {
  const name = withoutConflict(service.name);
  if (name === instanceName(serial) || name === phone?.mdnsName) return true;
  return phone?.serial !== undefined && serialIn(service) === phone.serial;
}

/**
 * Extracts the serial number of the phone that announces a service. Source: AOSP, packages/modules/adb, daemon/mdns.cpp
 * and client/adb_wifi.cpp.
 */
export function serialIn({ name, type }: Pick<WirelessService, 'name' | 'type'>): string | undefined {
  const form = type === plainService ? /^adb-(.+)$/ : /^adb-(.+)-[^-]+$/;
  const serial = form.exec(withoutConflict(name))?.[1];
  return serial !== undefined && isOwnNumber(serial) ? serial : undefined;
}

/** Returns the name under which ADB lists a phone that it connected by mDNS; undefined for an address. */
export const instanceName = (serial: string): string | undefined => {
  const name = /^(.+)\._adb(?:-tls-connect)?\._tcp\.?$/.exec(serial)?.[1];
  return name === undefined ? undefined : withoutConflict(name);
};

/** Removes the number that a responder appends to a name in conflict (RFC 6762, section 9). */
const withoutConflict = (name: string): string => name.replace(/ \(\d{1,5}\)$/, '');

/** Makes the adb server connect a phone. A connected phone stays connected. */
export async function connectTo(client: AdbServerClient, address: string): Promise<void> {
  await client.wireless.connect(address).catch((error: unknown) => {
    if (!(error instanceof AdbServerClient.AlreadyConnectedError)) throw error;
  });
}

const hostOf = (address: string): string => address.slice(0, Math.max(0, address.lastIndexOf(':')));
