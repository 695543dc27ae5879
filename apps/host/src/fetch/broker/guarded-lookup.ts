import { lookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

import { AddressRefused, isPublicAddress } from './address-policy.ts';

/**
 * A `lookup` for connections: the addresses it gives are the ones connected to, so a name cannot change its address
 * between check and use. One forbidden address among several refuses the name.
 */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, []);
    const refused = addresses.find(({ address }) => !isPublicAddress(address));
    if (refused !== undefined) return callback(new AddressRefused(hostname, refused.address), []);
    if (options.all === true) return callback(null, addresses);
    const [first = { address: '', family: 0 }]: LookupAddress[] = addresses;
    return callback(null, first.address, first.family);
  });
};

/** Addresses in the URL itself never come to `lookup`. `URL` has brought all their spellings to one. */
export function refuseLiteral({ hostname }: URL): void {
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new AddressRefused(host, host);
}
