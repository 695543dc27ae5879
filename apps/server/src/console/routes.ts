import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

import { ApiError } from '../errors/api-error.ts';
import { pathOf } from '../http/path-of.ts';
import { chooseCoding } from '../http/representations.ts';
import { readBuiltConsole, type BuiltConsole, type BuiltFile } from './built-console.ts';
import { buildingPage, failedPage } from './pages.ts';

/** The addresses of its pages: all of them get the same document, which shows what its address says. */
const pages = [
  '/',
  ...['devices', 'projects', 'runs', 'records', 'settings', 'sign-in', 'start'].flatMap((name) => [
    `/${name}`,
    `/${name}/*`,
  ]),
];

/** What stands in the built page where the nonce of a reply goes. */
const noncePlace = /__CSP_NONCE__/g;

const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' blob: data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');

/** What the navigation calls a page, where its address has another word. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['/fleet', '/devices'],
  ['/review', '/records'],
]);

type State = { built: BuiltConsole } | { failure: string } | undefined;

/** `GET /` and the pages of the console · `GET /assets/*`: what `folder` has, once it is there. */
export function addConsoleRoutes(app: FastifyInstance, folder: Promise<string>, log: Logger): void {
  let state: State;
  const ready = folder.then(readBuiltConsole).then(
    (built) => void (state = { built }),
    (error: unknown) => {
      log.error({ err: error }, 'the console could not be built');
      state = { failure: error instanceof Error ? error.message : String(error) };
    },
  );
  app.addHook('onClose', () => ready);

  // What is no route: a browser gets a page that says so, everybody else the error of the API.
  app.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request.url);
    if (!request.is404 || !isPageRequest(request) || path.startsWith('/api/')) return undefined;
    const page = otherNames.get(path);
    return page === undefined ? sendPage(reply.code(404), state) : reply.redirect(page);
  });
  for (const url of pages)
    app.get(url, { config: { scope: null } }, (_request, reply) => sendPage(reply, state));
  app.get<{ Params: { '*': string } }>('/assets/*', { config: { scope: null } }, (request, reply) => {
    const file =
      state !== undefined && 'built' in state && state.built.files.get(`assets/${request.params['*']}`);
    if (file === false || file === undefined)
      throw ApiError.of('route_not_found', { method: 'GET', path: request.url });
    return sendFile(request, reply, file);
  });
}

const isPageRequest = ({ method, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;

function sendPage(reply: FastifyReply, state: State): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  void reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('content-security-policy', policyOf(nonce))
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('x-frame-options', 'DENY');
  if (state === undefined) return reply.send(buildingPage);
  if ('failure' in state) return reply.code(500).send(failedPage(state.failure));
  return reply.send(state.built.page.replaceAll(noncePlace, nonce));
}

/** Its name has the hash of its content. */
function sendFile(request: FastifyRequest, reply: FastifyReply, { type, bodies }: BuiltFile): FastifyReply {
  const offered = chooseCoding(request.headers['accept-encoding']);
  const coding = offered !== undefined && bodies.has(offered) ? offered : 'identity';
  if (coding !== 'identity') void reply.header('content-encoding', coding);
  return reply
    .type(type)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('vary', 'accept-encoding')
    .send(bodies.get(coding));
}
