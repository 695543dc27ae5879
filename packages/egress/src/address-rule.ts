import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

import ipaddr from 'ipaddr.js';

/** Rule for the addresses to which programs may connect. */
export interface AddressRule {
  isAllowed(address: string): boolean;
  /**
   * Returns the error of a refused connection. `host` is the given name or address; the address of a name is not
   * revealed.
   */
  refusal(host: string): Error;
}

/** Rule for hosts that the operator has named. */
export const anywhere: AddressRule = {
  isAllowed: () => true,
  refusal: (host) => new Error(`${host} is refused`),
};

/** Resolves the addresses of a name. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Returns a `lookup` for connections. The connection uses exactly the checked addresses, so a name cannot change its
 * address between check and use. One forbidden address among several refuses the name.
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
 * Throws for a forbidden address in the URL itself, which never reaches `lookup`. `URL` has normalized all spellings of
 * an address.
 */
export function refuseLiteral({ hostname }: URL, rule: AddressRule): void {
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !rule.isAllowed(host)) throw rule.refusal(host);
}

/** Parses networks in CIDR notation; a single address is a network of one. Throws when one of them is invalid. */
export function readNetworks(texts: readonly string[]): (address: string) => boolean {
  const networks = texts.map((text) => ipaddr.parseCIDR(text.includes('/') ? text : wholeOf(text)));
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    // Compares an IPv4-mapped IPv6 address as IPv4, which a connection would use.
    const plain = ipaddr.process(address);
    return networks.some(([network, bits]) => network.kind() === plain.kind() && plain.match(network, bits));
  };
}

const wholeOf = (address: string): string => `${address}/${address.includes(':') ? 128 : 32}`;
