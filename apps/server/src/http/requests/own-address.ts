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

  /** Whether the browser uses TLS, which a proxy may terminate. */
  isTls({ headers }: FastifyRequest): boolean {
    return this.#publicUrl?.protocol === 'https:' && headers.host === this.#publicUrl.host;
  }

  /** Throws unless a page of this service, or the user at the browser, has sent the request. */
  requireOwnPage(request: FastifyRequest): void {
    const { host = '', origin, 'sec-fetch-site': site } = request.headers;
    // An IP address cannot be a foreign name that points to this machine.
    const name = hostNameOf(host);
    if (isIP(name) === 0 && !this.#names.has(name)) throw ApiError.of('misdirected_request', { host });
    // A WebSocket is not a read: browsers show its messages to a page of any origin.
    const isRead = ['GET', 'HEAD'].includes(request.method) && request.headers.upgrade === undefined;
    if (site === 'cross-site' || site === 'same-site' || (!isRead && origin !== this.#originOf(request)))
      throw ApiError.of('foreign_page', { origin: origin?.slice(0, 200) ?? 'no origin' });
  }

  #originOf(request: FastifyRequest): string {
    return `${this.isTls(request) ? 'https' : 'http'}://${request.headers.host ?? ''}`;
  }
}
