import { IsObject, type TSchema } from 'typebox';

import { allRoutes } from '../rest/all-routes.ts';
import { routeTags } from '../rest/route-tags.ts';
import { webhookEvents } from '../webhook-events.ts';
import { isOfTypes, successStatusesOf, type RouteContract, ErrorBody } from '../rest/contract.ts';
import { Components, exampleOf } from './components.ts';
import { errorTable, type ErrorCode } from '../errors.ts';
import { isPaged } from '../rest/page.ts';

const apiDescription = `Runs TypeScript automations on a fleet of Android phones. The [console](/) and its [help](/help) are for people.

Every request carries the header \`Authorization: Bearer <API token>\`. Bodies are JSON; nothing is coerced, unknown
fields are ignored. Times are milliseconds since the Unix epoch. Every failure has the body
\`{success: false, code, message}\`, and every reply an \`x-request-id\`. Lists come in pages: \`cursor\`, \`limit\` and
\`next_cursor\`. Pages of other origins get no CORS headers, so browsers don't let them read replies.`;

const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API token (`phx_…`); `POST /api/v2/tokens` creates more.',
  },
};

const successTexts: Record<number, string> = {
  101: 'Switching to the WebSocket protocol.',
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted; the work continues in the background.',
  206: 'The requested range.',
  304: 'Not modified: the version is still the one in `If-None-Match`.',
};
const binaryTypes = new Set(['image/jpeg', 'application/gzip']);

/** Messages that webhooks send, in addition to the operations. */
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
          responses: { 200: { description: 'Any status from 200 to 299 confirms the delivery.' } },
        },
      },
    ]),
  );

/** Returns the whole API as an OpenAPI 3.1 document. */
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
      description: apiDescription,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that serves this document' }],
    tags: Object.entries(routeTags).map(([name, text]) => ({ name, description: text })),
    security: [{ token: [] }],
    paths,
    webhooks: messagesOf(components),
    components: { securitySchemes, schemas: components.schemas, responses: components.responses },
  };
}

function parameters(
  place: 'path' | 'query' | 'header',
  schema: TSchema | undefined,
  components: Components,
): object[] {
  if (schema === undefined || !IsObject(schema)) return [];
  const required = new Set<string>(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, field]) => ({
    name,
    in: place,
    required: required.has(name),
    ...('description' in field ? { description: field.description } : {}),
    schema: components.refer(field),
  }));
}

/** Returns the content types of a body in a format other than JSON. */
const otherContent = (types: readonly string[]): object =>
  Object.fromEntries(
    types.map((type) => [
      type,
      { schema: binaryTypes.has(type) ? {} : { type: type.includes('json') ? 'object' : 'string' } },
    ]),
  );

/** Capitalizes the name of an operation for a schema: `listRuns` becomes `ListRuns`. */
const capitalized = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

function requestBody(contract: RouteContract, components: Components): object {
  const { operationId, body, bodyTypes, bodyExample } = contract;
  if (bodyTypes !== undefined) return { requestBody: { required: true, content: otherContent(bodyTypes) } };
  if (body === undefined) return {};
  const schema = components.referAs(`${capitalized(operationId)}Body`, body);
  const example = bodyExample ?? exampleOf(body, 'body');
  return { requestBody: { required: true, content: { 'application/json': { schema, example } } } };
}

function successResponse(contract: RouteContract, status: number, components: Components): object {
  const reply = contract.responses[status] ?? [];
  const description = successTexts[status] ?? 'Done.';
  if (isOfTypes(reply)) return { description, content: otherContent(reply) };
  const schema = components.referAs(replyName(contract, status), reply);
  return { description, content: { 'application/json': { schema, example: exampleOf(reply, 'body') } } };
}

/** Returns the name of a reply, with the status when another success of the operation has another body. */
function replyName({ operationId, responses }: RouteContract, status: number): string {
  const bodies = new Set(Object.values(responses).filter((body) => !isOfTypes(body)));
  return `${capitalized(operationId)}Reply${bodies.size > 1 ? status : ''}`;
}

/** Converts a contract to an operation of the OpenAPI document. */
export function operationOf(contract: RouteContract, components: Components): object {
  const successes = successStatusesOf(contract).map((status): [string, object] => [
    String(status),
    successResponse(contract, status, components),
  ]);
  return {
    operationId: contract.operationId,
    tags: [contract.tag],
    summary: contract.summary,
    ...(contract.description === undefined ? {} : { description: contract.description }),
    ...(contract.scope === null ? { security: [] } : {}),
    parameters: [
      ...parameters('path', contract.params, components),
      ...parameters('query', contract.query, components),
      ...parameters('header', contract.headers, components),
    ],
    ...requestBody(contract, components),
    responses: { ...Object.fromEntries(successes), ...errorResponses(contract, components) },
  };
}

const ofEveryone: readonly ErrorCode[] = [
  'invalid_request',
  // Returned for other methods of an existing path.
  'method_not_allowed',
  'expectation_failed',
  // This code is possible even for an endpoint without a body.
  'unsupported_encoding',
  'body_too_large',
  'headers_too_large',
  'too_many_requests',
  'too_many_connections',
  'internal',
];
const ofBodies: readonly ErrorCode[] = ['malformed_json', 'unsupported_media_type', 'request_timeout'];
/** Failures of every operation that requires a token, which is looked up in the database. */
const ofCallers: readonly ErrorCode[] = [
  'unauthorized',
  'forbidden',
  'too_many_bad_tokens',
  'storage_full',
  'storage_unavailable',
  'database_unavailable',
  'git_unavailable',
  'bucket_unavailable',
];

/** Failures of operations that are queued per user. */
const ofTurns: readonly ErrorCode[] = ['too_many_waiting', 'too_busy'];

/** Returns the failures that an endpoint may return besides its own. */
const commonErrors = (contract: RouteContract): readonly ErrorCode[] => [
  ...ofEveryone,
  // A DELETE can fail on its body even without a use for one, because a body that was sent is read.
  ...(contract.method === 'GET' ? [] : ofBodies),
  ...(contract.scope === null ? [] : ofCallers),
  ...(isPaged(contract) ? ofTurns : []),
];

/** Returns every error code of an endpoint. */
export const errorsOf = (contract: RouteContract): ReadonlySet<ErrorCode> =>
  new Set([...commonErrors(contract), ...(contract.errors ?? [])]);

/** Returns the message of the table, with `<name>` for each placeholder. */
const textOf = (code: ErrorCode): string => errorTable[code].message.replaceAll(/\{(\w+)\}/g, '<$1>');

/** Returns a name such as `NotReadyOrTooBusy`; equal names have equal codes. */
const nameOf = (codes: readonly ErrorCode[]): string =>
  codes
    .map((code) => code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase()))
    .join('Or');

function response(codes: readonly ErrorCode[], body: TSchema, components: Components): object {
  const [code = 'internal'] = codes;
  const errors =
    code === 'compile_failed' ? { errors: ["main.ts(3,7): error TS2304: Cannot find name 'x'."] } : {};
  return components.referResponse(nameOf(codes), {
    description: codes.map((one) => `- \`${one}\`: ${textOf(one)}`).join('\n'),
    content: {
      'application/json': {
        schema: components.refer(body),
        example: { success: false, code, message: textOf(code), ...errors },
      },
    },
  });
}

/** Returns the error responses of an endpoint, by status. */
export function errorResponses(contract: RouteContract, components: Components): Record<number, object> {
  const byStatus = Map.groupBy(errorsOf(contract), (code) => errorTable[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      response(codes, contract.errorBodies?.[status] ?? ErrorBody, components),
    ]),
  );
}
