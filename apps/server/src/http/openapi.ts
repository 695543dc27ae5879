import { fastifySwagger } from '@fastify/swagger';
import apiReference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';

const description = `Runs TypeScript automations on a fleet of Android phones.

Every request carries the header \`Authorization: Bearer <API token>\`. Bodies are JSON; nothing is coerced, unknown
fields are ignored. Every failure has the body \`{success: false, message, code}\`, and every reply an \`x-request-id\`.`;

/** Collects the routes that are added from now on into an OpenAPI 3.1 document. */
export async function describeRoutes(app: FastifyInstance, version: string): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Phalanx', version, description },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }],
    },
  });
}

/** `/api/openapi.json`, and `/docs`, which shows it. Both are open: they hold nothing that is not public. */
export async function serveDescription(app: FastifyInstance): Promise<void> {
  app.get('/api/openapi.json', { config: { scope: null }, schema: { hide: true } }, async () =>
    app.swagger(),
  );
  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, scope: null };
    });
    await docs.register(apiReference, {
      routePrefix: '/docs',
      // Nothing of the page may reach for the network, or offer what is not ours.
      configuration: {
        url: '/api/openapi.json',
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
