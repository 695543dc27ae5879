import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { hostNameOf } from './addresses.ts';

/**
 * Address at which browsers reach this service. A page of another address can make a browser send requests here, with
 * the cookie: by a name of its own that points to this machine, or from a page beside ours. Both are refused here.
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
    // A WebSocket is no read: browsers give its answer to any page that has asked.
    const isRead = ['GET', 'HEAD'].includes(request.method) && request.headers.upgrade === undefined;
    if (site === 'cross-site' || site === 'same-site' || (!isRead && origin !== this.#originOf(request)))
      throw ApiError.of('foreign_page', { origin: origin?.slice(0, 200) ?? 'no origin' });
  }

  #originOf(request: FastifyRequest): string {
    return `${this.isTls(request) ? 'https' : 'http'}://${request.headers.host ?? ''}`;
  }
}
