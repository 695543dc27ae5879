import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** Global unicast, the only part of IPv6 that is routed on the public internet (RFC 4291 section 2.4). */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
/** Prefix whose last 32 bits are an IPv4 address to which a translator would connect (RFC 6052). */
const nat64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];

/** Address in the public range that the host of an Azure virtual machine answers, with secrets of the machine. */
const azureHost = '168.63.129.16';

/**
 * Whether the address belongs to this machine. It may be public, but services on it are as private as on the loopback
 * address.
 */
function isOwn(address: ipaddr.IPv4 | ipaddr.IPv6, own: readonly string[]): boolean {
  const plain = address.toNormalizedString();
  return own.some((one) => ipaddr.isValid(one) && ipaddr.process(one).toNormalizedString() === plain);
}

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));

/** Whether an address belongs to the public internet, and not to this machine. An invalid address is not public. */
export function isPublicAddress(address: string, own: readonly string[] = ownAddresses()): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (isOwn(embeddedIn(parsed), own)) return false;
  return parsed instanceof ipaddr.IPv6 ? isPublicIPv6(parsed) : isPublicIPv4(parsed);
}

function isPublicIPv4(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.range() === 'unicast' && address.toString() !== azureHost;
}

function isPublicIPv6(address: ipaddr.IPv6): boolean {
  const embedded = embeddedIn(address);
  if (embedded instanceof ipaddr.IPv4) return isPublicIPv4(embedded);
  return address.match(globalUnicast) && address.range() === 'unicast';
}

/** Returns the IPv4 address that a connection to this one would reach, else the address itself. */
function embeddedIn(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  const bytes = address.toByteArray();
  if (address.match(nat64)) return new ipaddr.IPv4(bytes.slice(12));
  // In a 6to4 address, bytes 2 to 5 are the IPv4 address of the relay's far end (RFC 3056).
  return address.range() === '6to4' ? new ipaddr.IPv4(bytes.slice(2, 6)) : address;
}
