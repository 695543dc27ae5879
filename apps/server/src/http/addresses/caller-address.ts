import proxyAddr from '@fastify/proxy-addr';
import type { IncomingMessage } from 'node:http';
import { SettingError, type SettingFormat } from '@phalanx/settings';

export type TrustProxy = (address: string) => boolean;

/** The proxies whose `X-Forwarded-For` header is trusted. */
export const proxyList: SettingFormat<TrustProxy> = {
  allowed: 'addresses, subnets such as 10.0.0.0/8, loopback, uniquelocal, with commas; none',
  parse(text, name) {
    if (text === 'none') return () => false;
    try {
      const isTrusted = proxyAddr.compile(text.split(',').map((item) => item.trim()));
      return (address) => isTrusted(address, 0);
    } catch {
      throw new SettingError(
        `${name} is ${JSON.stringify(text.slice(0, 100))}: give addresses, subnets such as 10.0.0.0/8, or loopback, with commas; or none.`,
      );
    }
  },
};

/** The eight groups of an IPv6 address, of which `::` leaves some out. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::', 2);
  const before = head === '' ? [] : head.split(':');
  if (tail === undefined) return before;
  const after = tail === '' ? [] : tail.split(':');
  return [...before, ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after];
}

/** One network has as many IPv6 addresses as it likes below its first 64 bits. */
export function networkOf(address: string): string {
  const v4 = /(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  return address.includes(':') ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address;
}

/** Where a request comes from; a proxy that is trusted says it in `X-Forwarded-For`. */
export function peerAddress(request: IncomingMessage, trust: TrustProxy): string {
  const direct = request.socket.remoteAddress ?? '';
  const isForwarded = request.headers['x-forwarded-for'] !== undefined && trust(direct);
  // What stands in the header may be anything.
  const address = isForwarded ? proxyAddr(request, trust).slice(0, 64) : direct;
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}

/** The same for limits: one network counts as one. */
export const callerAddress = (request: IncomingMessage, trust: TrustProxy): string =>
  networkOf(peerAddress(request, trust));
