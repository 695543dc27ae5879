import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorText } from '@phalanx/settings';
import type { Logger } from 'pino';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { pathOf } from '../../http/requests/addresses.ts';
import { chooseCoding } from '../../http/requests/replies/codings.ts';

/** Paths of the console's pages. All of them serve the same document, which renders the page of its path. */
const pages = [
  '/',
  ...['devices', 'projects', 'runs', 'stats', 'jobs', 'records', 'groups', 'settings'].flatMap((name) => [
    `/${name}`,
    `/${name}/*`,
  ]),
  ...['sign-in', 'start', 'help'].flatMap((name) => [`/${name}`, `/${name}/*`]),
];

const iconFile = /^assets\/icon-.*\.svg$/;

/** Placeholder for a reply's nonce in the built page. */
const noncePlace = /__CSP_NONCE__/g;

const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' blob: data:",
    "media-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');

/** Redirects from other page names that people type. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['/fleet', '/devices'],
  ['/review', '/groups'],
  ['/webhooks', '/settings/webhooks'],
]);

type State = { built: BuiltConsole } | { failure: string } | undefined;

/** `GET /` and the pages of the console · `GET /favicon.ico` · `GET /assets/*`: serves `folder` once it is built. */
export function addConsoleRoutes(app: FastifyInstance, folder: Promise<string>, log: Logger): void {
  let state: State;
  const ready = folder.then(readBuiltConsole).then(
    (built) => void (state = { built }),
    (error: unknown) => {
      log.error({ err: error }, 'the console could not be built');
      state = { failure: errorText(error) };
    },
  );
  app.addHook('onClose', () => ready);

  // Handles unknown paths: a browser gets a redirect or a 404 page, every other client the API's error.
  app.addHook('onRequest', async (request, reply) => {
    const pathname = pathOf(request.url);
    if (!request.is404 || !isPageRequest(request) || pathname.startsWith('/api/')) return undefined;
    const page = otherNames.get(pathname);
    return page === undefined ? sendPage(reply.code(404), state) : reply.redirect(page);
  });
  for (const url of pages)
    app.get(url, { config: { scope: null, reach: null } }, (_request, reply) => sendPage(reply, state));
  // Browsers request this icon on pages that name none, such as `/docs`.
  app.get('/favicon.ico', { config: { scope: null, reach: null } }, (_request, reply) => {
    const icon =
      state !== undefined && 'built' in state && state.built.files.keys().find((name) => iconFile.test(name));
    if (icon === false || icon === undefined)
      throw ApiError.of('route_not_found', { method: 'GET', path: '/favicon.ico' });
    return reply.redirect(`/${icon}`);
  });
  app.get<{ Params: { '*': string } }>(
    '/assets/*',
    { config: { scope: null, reach: null } },
    (request, reply) => {
      const file =
        state !== undefined && 'built' in state && state.built.files.get(`assets/${request.params['*']}`);
      if (file === false || file === undefined)
        throw ApiError.of('route_not_found', { method: 'GET', path: request.url });
      return sendFile(request, reply, file);
    },
  );
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

/** Sends an asset. Its name contains the hash of its content, so it is cached without revalidation. */
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

interface BuiltFile {
  readonly type: string;
  /** Contents by content coding; `identity` is the uncompressed file. */
  readonly bodies: ReadonlyMap<string, Buffer>;
}

/** Built console: its page, and its files by their relative path, such as `assets/index-Bx3.js`. */
interface BuiltConsole {
  readonly page: string;
  readonly files: ReadonlyMap<string, BuiltFile>;
}

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
};
const codings: Record<string, string> = { '.br': 'br', '.gz': 'gzip' };

/** Reads the build output into memory: about two megabytes, which never change while they are served. */
async function readBuiltConsole(folder: string): Promise<BuiltConsole> {
  const page = await readFile(path.join(folder, 'index.html'), 'utf8');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, { type: string; bodies: Map<string, Buffer> }>();
  for (const entry of entries.filter((one) => one.isFile())) {
    const place = path.join(entry.parentPath, entry.name);
    const coding = codings[path.extname(place)];
    const name = path
      .relative(folder, coding === undefined ? place : place.slice(0, -3))
      .replaceAll('\\', '/');
    const type = types[path.extname(name)];
    if (type === undefined) continue;
    const file = files.get(name) ?? { type, bodies: new Map() };
    files.set(name, file);
    file.bodies.set(coding ?? 'identity', await readFile(place));
  }
  return { page, files };
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const page = (title: string, body: string, head = ''): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">${head}<title>${title}</title></head>
<body>${body}</body></html>
`;

/** Page that reloads itself every second, because the server does not wait for the console's build. */
const buildingPage = page(
  'Phalanx',
  '<p>The console is being made ready; this takes a few seconds after its sources have changed.</p>',
  '<meta http-equiv="refresh" content="1">',
);

const failedPage = (reason: string): string =>
  page(
    'Phalanx',
    `<p>The console could not be built. The API works; see <a href="/docs">/docs</a>.</p><pre>${escape(reason)}</pre>`,
  );
