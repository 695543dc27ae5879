import type { FastifyInstance, HTTPMethods } from 'fastify';

import { ApiError } from './api-error.ts';
import { sendError } from './error-replies.ts';

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
  return {
    refuseOthers: () => {
      watching = false;
      for (const [url, methods] of taken) refuse(app, url, methods);
    },
  };
}

function refuse(app: FastifyInstance, url: string, taken: ReadonlySet<string>): void {
  const others = allMethods.filter((method) => !taken.has(method));
  if (others.length === 0 || url.includes('*')) return;
  const allowed = [...taken].join(', ');
  app.route({
    url,
    method: others,
    schema: { hide: true },
    config: { scope: null },
    // Before the body is read, so that a wrong method is named even when the body is unreadable too.
    onRequest: async (request, reply) => {
      void reply.header('allow', allowed);
      const path = request.url.split('?', 1)[0] ?? url;
      return sendError(
        ApiError.of('method_not_allowed', { path, method: request.method, allowed }),
        request,
        reply,
      );
    },
    handler: async () => undefined,
  });
}
