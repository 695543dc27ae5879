import type { IncomingMessage } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import { SettingError, type SettingFormat } from '@phalanx/settings';
import type { FastifyRequest, FastifyInstance } from 'fastify';
import { ApiError, errorCodeOf } from '../../kernel/errors/api-error.ts';

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

const hostNameOf = (host: string): string =>
  host
    .replace(/:\d+$/, '')
    .replaceAll(/^\[|\]$/g, '')
    .toLowerCase();

export function isLoopback(host: string | undefined): boolean {
  const name = hostNameOf(host ?? '');
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/**
 * Where browsers reach this service. A page of another address can make a browser send requests here, with the cookie:
 * by a name of its own that points to this machine, or from a page beside ours. Both are told apart here.
 */
export class OwnAddress {
  readonly #publicUrl: URL | undefined;
  readonly #names: ReadonlySet<string>;

  constructor(listenHost: string, publicUrl: URL | undefined) {
    this.#publicUrl = publicUrl;
    const names = ['localhost', listenHost.toLowerCase(), publicUrl?.hostname ?? ''];
    this.#names = new Set(names.filter((name) => name !== ''));
  }

  /** Whether the browser has come by TLS, which ends before this service. */
  isTls({ headers }: FastifyRequest): boolean {
    return this.#publicUrl?.protocol === 'https:' && headers.host === this.#publicUrl.host;
  }

  /** Throws unless a page of ours, or the person at the browser, has sent the request. */
  requireOwnPage(request: FastifyRequest): void {
    const { host = '', origin, 'sec-fetch-site': site } = request.headers;
    // Nobody can make a browser send an IP address as the name of another machine.
    const name = hostNameOf(host);
    if (isIP(name) === 0 && !this.#names.has(name)) throw ApiError.of('misdirected_request', { host });
    // Of a WebSocket, browsers read the answer to whichever page has asked.
    const isRead = ['GET', 'HEAD'].includes(request.method) && request.headers.upgrade === undefined;
    if (site === 'cross-site' || site === 'same-site' || (!isRead && origin !== this.#originOf(request)))
      throw ApiError.of('foreign_page', { origin: origin?.slice(0, 200) ?? 'no origin' });
  }

  #originOf(request: FastifyRequest): string {
    return `${this.isTls(request) ? 'https' : 'http'}://${request.headers.host ?? ''}`;
  }
}

const problems: Record<string, string> = {
  EADDRINUSE: 'is taken by another program: stop it, or choose another address',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is not the name of a machine',
  EAI_AGAIN: 'is a name that cannot be looked up at present: give an IP address',
  EAFNOSUPPORT: 'is of a kind that this machine does not speak',
  EINVAL: 'is not an address to listen on',
  EACCES: 'may not be used by this user: choose a port above 1023',
};

/** Files have errors of the same codes. */
const syscalls: readonly unknown[] = ['listen', 'bind', 'getaddrinfo'];

/** What keeps the server from listening, in words that say what to do; other errors as they are. */
export function explainListenError(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const isOfListening = error instanceof Error && 'syscall' in error && syscalls.includes(error.syscall);
  const problem = isOfListening ? problems[errorCodeOf(error)] : undefined;
  if (problem === undefined) return error;
  return new SettingError(`PHALANX_LISTEN ${host}:${port} ${problem}`, { cause: error });
}

/** Such as `http://127.0.0.1:8080`. */
export function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on TCP');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

/** Where people open the console: as the operator says, or the address that the server listens on. Without a slash at its end. */
export const consoleUrl = (
  { publicUrl }: { readonly publicUrl: URL | undefined },
  { server }: FastifyInstance,
): string => publicUrl?.href.replace(/\/+$/, '') ?? urlOf(server.address());

/** The path of a request's address, without its query. */
export const pathOf = (url = ''): string => url.split('?', 1)[0] ?? '';
