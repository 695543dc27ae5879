import type { FastifyRequest, FastifyReply } from 'fastify';
import { isLoopback } from '../../requests/addresses.ts';
import type { OwnAddress } from '../../requests/own-address.ts';

interface SessionCookie {
  readonly name: string;
  /**
   * Whether the browser protects the cookie from pages of neighbouring domains and other ports, which cannot set it.
   */
  readonly isProtected: boolean;
}

/**
 * The only cookie that counts for a request. Cookies ignore ports, so the name has it: two services on one machine keep
 * their sign-ins apart. Browsers take the `__Host-` name only where nobody can listen in: over TLS, and on the machine
 * itself.
 */
export function cookieOf(request: FastifyRequest, ownAddress: OwnAddress): SessionCookie {
  const { host } = request.headers;
  const plain = `phalanx-${/:(\d+)$/.exec(host ?? '')?.[1] ?? '0'}`;
  const isProtected = ownAddress.isTls(request) || isLoopback(host);
  return { name: isProtected ? `__Host-${plain}` : plain, isProtected };
}

function readCookie(header: string, name: string): string | undefined {
  const pair = header.split(';').find((part) => part.trimStart().startsWith(`${name}=`));
  return pair?.slice(pair.indexOf('=') + 1).trim();
}

/** Returns the secret of the session that the browser sends. */
export function findSessionSecret(request: FastifyRequest, ownAddress: OwnAddress): string | undefined {
  const { cookie } = request.headers;
  return cookie === undefined ? undefined : readCookie(cookie, cookieOf(request, ownAddress).name);
}

/** Sends the cookie. Without a secret, the browser forgets it. */
export function sendSessionCookie(
  reply: FastifyReply,
  { secret, maxAgeSeconds, cookie }: { secret: string; maxAgeSeconds: number; cookie: SessionCookie },
): void {
  const rest = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${cookie.isProtected ? '; Secure' : ''}`;
  void reply.header('set-cookie', `${cookie.name}=${secret}; ${rest}`).header('cache-control', 'no-store');
}
