import { allRoutes } from '../rest/all-routes.ts';
import { routeTags } from '../rest/route-tags.ts';
import { webhookEvents } from '../webhook-events.ts';
import { Components } from './components.ts';
import { operationOf } from './operation.ts';

const description = `Runs TypeScript automations on a fleet of Android phones.

Every request carries the header \`Authorization: Bearer <API token>\`. Bodies are JSON; nothing is coerced, unknown
fields are ignored. Times are milliseconds since the Unix epoch. Every failure has the body
\`{success: false, code, message}\`, and every reply an \`x-request-id\`. Lists come in pages: \`cursor\`, \`limit\` and
\`next_cursor\`. Pages of other origins get no CORS headers, so browsers don't let them read replies.`;

const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API token (`phx_…`); `POST /api/v2/tokens` makes more.',
  },
};

/** What webhooks send, beside what callers ask for. */
const messagesOf = (components: Components): Record<string, object> =>
  Object.fromEntries(
    Object.entries(webhookEvents).map(([name, event]) => [
      name,
      {
        post: {
          operationId: `on ${name}`.replaceAll(/[ ._](\w)/g, (_, letter: string) => letter.toUpperCase()),
          tags: ['Webhooks'],
          summary: event.description,
          security: [],
          requestBody: { content: { 'application/json': { schema: components.refer(event) } } },
          responses: { 200: { description: 'Any status from 200 to 299: it is delivered.' } },
        },
      },
    ]),
  );

/** The whole API as an OpenAPI 3.1 document. */
export function openApiDocument(version: string): object {
  const components = new Components();
  const paths: Record<string, Record<string, object>> = {};
  for (const contract of allRoutes) {
    const path = contract.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [contract.method.toLowerCase()]: operationOf(contract, components) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Phalanx',
      version,
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that this document comes from' }],
    tags: Object.entries(routeTags).map(([name, text]) => ({ name, description: text })),
    security: [{ token: [] }],
    paths,
    webhooks: messagesOf(components),
    components: { securitySchemes, schemas: components.schemas, responses: components.responses },
  };
}
