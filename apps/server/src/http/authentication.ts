import type { Scope } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';

import { ApiError } from './api-error.ts';
import type { Principal } from './principal.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the caller's token must allow; `null`: no token is asked for. Routes without it are closed. */
    scope?: Scope | null;
  }
  interface FastifyRequest {
    principal: Principal;
    /** Whether a valid token came with it. */
    hasPrincipal: boolean;
  }
}

/**
 * Finds out who sends this `Authorization` header, or throws `unauthorized`; too much of either from one token or one
 * address is refused.
 */
export type Authenticate = (authorization: string | undefined, address: () => string) => Promise<Principal>;

export function requireScope(principal: Principal, scope: Scope): void {
  if (principal.scopes.has(scope)) return;
  throw ApiError.of('forbidden', { reason: `This token does not have the scope "${scope}"` });
}

interface Gate {
  authenticate: Authenticate;
  addressOf: (request: IncomingMessage) => string;
  /** Asks a request that comes without a token. Throws when too many have come from there. */
  admitStranger: (address: string) => void;
}

/** Asks every request for its token before anything of its body is read. */
export function requireTokens(app: FastifyInstance, { authenticate, addressOf, admitStranger }: Gate): void {
  app.decorateRequest('principal');
  app.decorateRequest('hasPrincipal', false);
  app.addHook('onRequest', async (request) => {
    const { scope } = request.routeOptions.config;
    const address = (): string => addressOf(request.raw);
    if (request.is404 || scope === null) return admitStranger(address());
    request.principal = await authenticate(request.headers.authorization, address);
    request.hasPrincipal = true;
    if (scope !== undefined) requireScope(request.principal, scope);
  });
}
