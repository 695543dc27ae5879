import type { IncomingMessage } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import type { FastifyInstance } from 'fastify';
import type { TrustProxy } from './trusted-proxies.ts';

/** Returns the eight groups of an IPv6 address, with those that `::` omits. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::', 2);
  const before = head === '' ? [] : head.split(':');
  if (tail === undefined) return before;
  const after = tail === '' ? [] : tail.split(':');
  return [...before, ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after];
}

/** Returns the network of an address: an IPv6 network can use any address below its first 64 bits. */
export function networkOf(address: string): string {
  const v4 = /(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  return address.includes(':') ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address;
}

/** Returns the address that a request comes from; a trusted proxy gives it in `X-Forwarded-For`. */
export function peerAddress(request: IncomingMessage, trust: TrustProxy): string {
  const direct = request.socket.remoteAddress ?? '';
  const isForwarded = request.headers['x-forwarded-for'] !== undefined && trust(direct);
  // The header may contain anything.
  const address = isForwarded ? proxyAddr(request, trust).slice(0, 64) : direct;
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}

/** Returns the address for limits: one network counts as one. */
export const callerAddress = (request: IncomingMessage, trust: TrustProxy): string =>
  networkOf(peerAddress(request, trust));

export const hostNameOf = (host: string): string =>
  host
    .replace(/:\d+$/, '')
    .replaceAll(/^\[|\]$/g, '')
    .toLowerCase();

export function isLoopback(host: string | undefined): boolean {
  const name = hostNameOf(host ?? '');
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** Example: `http://127.0.0.1:8080`. */
export function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on TCP');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

/**
 * Returns the URL where people open the console: as the operator says, or the address that the server listens on. It
 * has no slash at its end.
 */
export const consoleUrl = (
  { publicUrl }: { readonly publicUrl: URL | undefined },
  { server }: FastifyInstance,
): string => publicUrl?.href.replace(/\/+$/, '') ?? urlOf(server.address());

/** Returns the path of a URL, without its query. */
export const pathOf = (url = ''): string => url.split('?', 1)[0] ?? '';
