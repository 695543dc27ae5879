import { IsObject, type TSchema } from 'typebox';

import { isOfTypes, successStatusesOf, type RouteContract } from '../rest/contract.ts';
import { errorResponses } from './error-responses.ts';
import { exampleOf } from './example-of.ts';
import type { Components } from './components.ts';

const successTexts: Record<number, string> = {
  101: 'The connection is a WebSocket from here on.',
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted; it is done by itself.',
  206: 'The part that was asked for.',
  304: 'It is still the version that `If-None-Match` names.',
};
const binaryTypes = new Set(['image/jpeg', 'application/gzip']);

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

/** Bodies that are not JSON of ours, by content type. */
const otherContent = (types: readonly string[]): object =>
  Object.fromEntries(
    types.map((type) => [
      type,
      { schema: binaryTypes.has(type) ? {} : { type: type.includes('json') ? 'object' : 'string' } },
    ]),
  );

/** `listRuns` as the name of a schema: `ListRuns`. */
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

/** With the status where another success of the operation has another body. */
function replyName({ operationId, responses }: RouteContract, status: number): string {
  const bodies = new Set(Object.values(responses).filter((body) => !isOfTypes(body)));
  return `${capitalized(operationId)}Reply${bodies.size > 1 ? status : ''}`;
}

/** A contract as an operation of the OpenAPI document. */
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
