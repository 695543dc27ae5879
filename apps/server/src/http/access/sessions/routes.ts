import type { FastifyInstance } from 'fastify';
import { sessionRoutes } from '@phalanx/protocol';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import type { OwnAddress } from '../../requests/own-address.ts';
import type { Principal } from '../../requests/principal.ts';
import type { Authenticator } from '../authenticator.ts';
import { addRawRoute } from '../../requests/route.ts';
import { cookieOf, findSessionSecret, sendSessionCookie } from './session-cookie.ts';
import { type Sessions, maxSessionMs } from './sessions.ts';
import type { SignInLinks } from './sign-in-links.ts';

interface SessionRoutesOptions {
  sessions: Sessions;
  links: SignInLinks;
  authenticator: Authenticator;
  ownAddress: OwnAddress;
}

interface Credentials {
  token?: string;
  link?: string;
}

const tokenOf = ({ tokenId, tokenName }: Principal) => ({
  type: 'token' as const,
  id: tokenId,
  name: tokenName,
});

/** `POST, DELETE /session` */
export function addSessionRoutes(app: FastifyInstance, options: SessionRoutesOptions): void {
  const { sessions, links, authenticator, ownAddress } = options;

  addRawRoute(app, sessionRoutes.create, async ({ body, auditEvent, raw }, reply) => {
    ownAddress.requireOwnPage(raw);
    const { secret, expiresAt } = await sessions.open(await admit(body, raw.ip), (principal) => {
      auditEvent.actor.principal = principal;
      auditEvent.on(tokenOf(principal), [principal.userId]);
    });
    sendSessionCookie(reply, {
      secret,
      cookie: cookieOf(raw, ownAddress),
      maxAgeSeconds: maxSessionMs / 1000,
    });
    return reply.send({ success: true, expires_at: expiresAt });
  });

  addRawRoute(app, sessionRoutes.delete, async ({ principal, auditEvent, raw }, reply) => {
    auditEvent.on(tokenOf(principal), [principal.userId]);
    const secret = findSessionSecret(raw, ownAddress);
    if (secret !== undefined) await sessions.end(secret);
    sendSessionCookie(reply, { secret: '', maxAgeSeconds: 0, cookie: cookieOf(raw, ownAddress) });
    return reply.send({ success: true, message: 'You are signed out.' });
  });

  /** Returns the ID of the token that the credentials stand for. */
  async function admit({ token, link }: Credentials, address: string): Promise<string> {
    if (token !== undefined)
      return (await authenticator.authenticate(`Bearer ${token.trim()}`, () => address)).tokenId;
    const tokenId = link === undefined ? undefined : await links.take(link);
    if (tokenId !== undefined) return tokenId;
    const reason =
      link === undefined
        ? 'The body has neither a token nor a link.'
        : 'This sign-in link was already used or has expired: start the service again for a new one, or sign in with a token.';
    throw ApiError.of('unauthorized', { reason });
  }
}
