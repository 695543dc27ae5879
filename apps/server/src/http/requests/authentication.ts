import type { Reach, Scope } from '@phalanx/protocol';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { requireAllowed } from './policy.ts';
import type { Principal } from './principal.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Scope that the caller's token must have; `null`: no token is asked for. Routes without it are closed. */
    scope?: Scope | null;
    /** Reach of the route, by which limited tokens are judged; `null` together with the scope. */
    reach?: Reach | null;
  }
  interface FastifyRequest {
    principal: Principal;
    /** Whether a valid token came with it. */
    hasPrincipal: boolean;
  }
}

/**
 * Finds out who sends this `Authorization` header, or throws `unauthorized`; too much of either from one token or one
 * address is refused. A `connection` that was let in with the same header before gets its answer at once.
 */
export type Authenticate = (
  authorization: string | undefined,
  address: () => string,
  connection?: object,
) => Principal | Promise<Principal>;

/** Finds the caller of a request by the session cookie of a browser; undefined without one. */
export type FindCaller = (request: FastifyRequest) => Promise<Principal | undefined>;

interface Gate {
  authenticate: Authenticate;
  findCaller: FindCaller;
  addressOf: (request: IncomingMessage) => string;
  catchUp: () => Promise<void> | undefined;
  /** Admits a request without a token. Throws if the address has sent too many. */
  admitStranger: (address: string) => void;
}

/** Fails the start if a route does not state its scope and its reach. */
function requireReach(app: FastifyInstance): void {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  // Check at `onReady`, because plugins may add to the options of their routes.
  app.addHook('onReady', async () => {
    for (const { method, url, config: { scope, reach } = {} } of routes) {
      if (
        scope === null
          ? reach === null
          : typeof scope === 'string' && typeof reach === 'object' && reach !== null
      )
        continue;
      const missing = 'name its scope and its reach, or null for both when it asks for no token';
      throw new Error(`${String(method)} ${url} does not say which tokens may use it: ${missing}`);
    }
  });
}

/** Asks every request for its token, or for the session of a browser, before anything of its body is read. */
export function requireCallers(app: FastifyInstance, gate: Gate): void {
  const { authenticate, findCaller, addressOf, admitStranger, catchUp } = gate;
  app.decorateRequest('principal');
  app.decorateRequest('hasPrincipal', false);
  requireReach(app);

  const findOut = (request: FastifyRequest): Principal | Promise<Principal> => {
    const { authorization } = request.headers;
    const ask = (): Principal | Promise<Principal> =>
      authenticate(authorization, () => addressOf(request.raw), request.raw.socket);
    return authorization === undefined ? findCaller(request).then((caller) => caller ?? ask()) : ask();
  };
  const callerOf = (request: FastifyRequest): Principal | Promise<Principal> =>
    catchUp()?.then(() => findOut(request)) ?? findOut(request);
  const admit = (request: FastifyRequest, principal: Principal): void => {
    const { scope, reach } = request.routeOptions.config;
    request.principal = principal;
    request.hasPrincipal = true;
    // The service starts with no route that has one without the other.
    if (typeof scope === 'string' && typeof reach === 'object' && reach !== null)
      requireAllowed(principal, { scope, reach });
  };
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.is404 || request.routeOptions.config.scope === null) {
      admitStranger(addressOf(request.raw));
      return done();
    }
    const caller = callerOf(request);
    // Most callers are cached, and awaiting a promise costs as much as the lookup.
    if (caller instanceof Promise)
      return void caller.then((principal) => admit(request, principal)).then(() => done(), done);
    admit(request, caller);
    done();
  });
}
