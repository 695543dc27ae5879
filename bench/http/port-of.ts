import type { AddressInfo } from 'node:net';

/** Returns the port of a server that listens on TCP. */
export function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('not listening on TCP');
  return address.port;
}
