import type { FastifyReply, FastifyRequest } from 'fastify';

import { isLoopback } from '../../http/addresses/own-address.ts';

/**
 * Cookies ignore ports, so the name has it: two services on one machine keep their sign-ins apart. Browsers take the
 * `__Host-` name only where nobody can listen in: over TLS, and on the machine itself.
 */
const namesOf = (request: FastifyRequest): { protected: string; plain: string } => {
  const port = /:(\d+)$/.exec(request.headers.host ?? '')?.[1] ?? '0';
  return { protected: `__Host-phalanx-${port}`, plain: `phalanx-${port}` };
};

function readCookie(header: string, name: string): string | undefined {
  const pair = header.split(';').find((part) => part.trimStart().startsWith(`${name}=`));
  return pair?.slice(pair.indexOf('=') + 1).trim();
}

/** The secret of the session that the browser sends. */
export function findSessionSecret(request: FastifyRequest): string | undefined {
  const { cookie } = request.headers;
  if (cookie === undefined) return undefined;
  const names = namesOf(request);
  return readCookie(cookie, names.protected) ?? readCookie(cookie, names.plain);
}

/** Without a secret, the browser forgets it. */
export function sendSessionCookie(
  reply: FastifyReply,
  { secret, maxAgeSeconds, isTls }: { secret: string; maxAgeSeconds: number; isTls: boolean },
): void {
  const names = namesOf(reply.request);
  const isProtected = isTls || isLoopback(reply.request.headers.host);
  const name = isProtected ? names.protected : names.plain;
  const rest = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${isProtected ? '; Secure' : ''}`;
  void reply.header('set-cookie', `${name}=${secret}; ${rest}`).header('cache-control', 'no-store');
}
