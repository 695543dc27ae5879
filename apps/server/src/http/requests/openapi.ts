import { openApiDocument } from '@phalanx/protocol';
import apiReference from '@scalar/fastify-api-reference';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';

/** Policy of the page: its own script and styles, requests to this service alone, and no frames. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const protectPage: onRequestHookHandler = (_request, reply, done) => {
  void reply.header('content-security-policy', pagePolicy).header('x-frame-options', 'DENY');
  done();
};

/** Documents by version. Each is made when it is first asked for, because that takes forty milliseconds. */
const documents = new Map<string, string>();

function documentOf(version: string): string {
  const document = documents.get(version) ?? JSON.stringify(openApiDocument(version));
  documents.set(version, document);
  return document;
}

/** `/api/openapi.json`, and `/docs`, which shows it. Both are open: they hold nothing that is not public. */
export async function serveDescription(app: FastifyInstance, version: string): Promise<void> {
  app.get('/api/openapi.json', { config: { scope: null, reach: null, isStatic: true } }, (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(documentOf(version)),
  );
  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, scope: null, reach: null, isStatic: true };
    });
    docs.addHook('onRequest', protectPage);
    await docs.register(apiReference, {
      routePrefix: '/docs',
      // Turn off features of the page that use the network or advertise other services.
      configuration: {
        url: '/api/openapi.json',
        pageTitle: 'Phalanx API',
        withDefaultFonts: false,
        telemetry: false,
        showDeveloperTools: 'never',
        hideClientButton: true,
        mcp: { disabled: true },
        agent: { disabled: true },
      },
    });
  });
}
