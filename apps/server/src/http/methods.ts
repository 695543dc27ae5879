import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';

import { ApiError } from '../errors/api-error.ts';
import { sendError } from './replies/error-replies.ts';
import { pathOf } from './addresses/path-of.ts';

const allMethods: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Remembers which methods each path takes. Call it before the routes are added, and the result after them. */
export function watchMethods(app: FastifyInstance): { refuseOthers: () => void } {
  const taken = new Map<string, Set<string>>();
  let watching = true;
  app.addHook('onRoute', ({ url, method }) => {
    if (!watching) return;
    const methods = taken.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    if (methods.has('GET')) methods.add('HEAD');
    taken.set(url, methods);
  });
  refuseUnknown(app, taken);
  return {
    refuseOthers: () => {
      watching = false;
      for (const [url, methods] of taken) refuse(app, url, methods);
    },
  };
}

const notAllowed = (request: FastifyRequest, reply: FastifyReply, taken: Iterable<string>): ApiError => {
  const allowed = [...taken].join(', ');
  void reply.header('allow', allowed);
  const path = pathOf(request.url);
  return ApiError.of('method_not_allowed', { path, method: request.method, allowed });
};

/** Methods that no route is made for, such as PROPFIND: the path is looked up here. */
function refuseUnknown(app: FastifyInstance, taken: ReadonlyMap<string, Set<string>>): void {
  const usual: readonly string[] = allMethods;
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 || usual.includes(request.method)) return done();
    const path = pathOf(request.url);
    const methods = taken.get(path) ?? [...taken].find(([url]) => patternOf(url).test(path))?.[1];
    done(methods && notAllowed(request, reply, methods));
  });
}

/** `/runs/:id` takes what stands between two slashes. */
const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replaceAll('.', String.raw`\.`)
      .replaceAll('*', '.*')
      .replaceAll(/:\w+/g, '[^/]+')}$`,
  );

function refuse(app: FastifyInstance, url: string, taken: ReadonlySet<string>): void {
  const others = allMethods.filter((method) => !taken.has(method));
  if (others.length === 0 || url.includes('*')) return;
  app.route({
    url,
    method: others,
    config: { scope: null, audit: null },
    // Before the body is read, so that a wrong method is named even when the body is unreadable too.
    onRequest: async (request, reply) => sendError(notAllowed(request, reply, taken), request, reply),
    handler: async () => undefined,
  });
}
