import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

import ipaddr from 'ipaddr.js';

/** Rule that says to which addresses programs may connect. */
export interface AddressRule {
  isAllowed(address: string): boolean;
  /** The error of a connection that is not allowed. `host` is the name or the address that was given; the address of a name is not told. */
  refusal(host: string): Error;
}

/** For what the operator has named. */
export const anywhere: AddressRule = {
  isAllowed: () => true,
  refusal: (host) => new Error(`${host} is refused`),
};

/** Finds the addresses of a name. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * A `lookup` for connections: the addresses it gives are the ones connected to, so a name cannot change its address
 * between check and use. One forbidden address among several refuses the name.
 */
export const guardedLookup =
  (rule: AddressRule, resolve: Resolve): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      if (addresses.some(({ address }) => !rule.isAllowed(address)))
        return callback(rule.refusal(hostname), []);
      if (options.all === true) return callback(null, addresses);
      const [first = { address: '', family: 0 }]: LookupAddress[] = addresses;
      return callback(null, first.address, first.family);
    });
  };

/**
 * Throws for an address that stands in the URL itself and is not allowed: it never comes to `lookup`. `URL` has brought
 * all spellings of an address to one.
 */
export function refuseLiteral({ hostname }: URL, rule: AddressRule): void {
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !rule.isAllowed(host)) throw rule.refusal(host);
}

/** Networks in the notation of CIDR; a single address is a network of one. Throws when one of them cannot be read. */
export function readNetworks(texts: readonly string[]): (address: string) => boolean {
  const networks = texts.map((text) => ipaddr.parseCIDR(text.includes('/') ? text : wholeOf(text)));
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    // An IPv4 address within IPv6 is reached as what it is.
    const plain = ipaddr.process(address);
    return networks.some(([network, bits]) => network.kind() === plain.kind() && plain.match(network, bits));
  };
}

const wholeOf = (address: string): string => `${address}/${address.includes(':') ? 128 : 32}`;
