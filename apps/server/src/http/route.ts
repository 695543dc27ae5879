import { ErrorBody, type RouteContract } from '@phalanx/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';

import type { Principal } from './principal.ts';

type Part<Schema> = Schema extends TSchema ? Static<Schema> : undefined;

/** A request that has a valid token and fits its contract. */
export interface RouteRequest<Contract extends RouteContract> {
  readonly principal: Principal;
  readonly params: Part<Contract['params']>;
  readonly query: Part<Contract['query']>;
  readonly body: Part<Contract['body']>;
  readonly raw: FastifyRequest;
}

type Reply<Contract extends RouteContract> = {
  [Status in keyof Contract['responses']]: Contract['responses'][Status] extends TSchema
    ? Static<Contract['responses'][Status]>
    : never;
}[keyof Contract['responses']];

const everyError = [400, 401, 403, 405, 413, 415, 429, 500, 503, 507];

function errorResponses(contract: RouteContract): Record<number, TSchema> {
  const usual = contract.scope === null ? [400, 405, 500] : everyError;
  return Object.fromEntries(
    [...usual, ...(contract.errors ?? [])].map((status) => [
      status,
      contract.errorBodies?.[status] ?? ErrorBody,
    ]),
  );
}

/** A response that is not JSON is described for the OpenAPI document and left alone by the serializer. */
function successResponse(response: TSchema | string): object {
  return typeof response === 'string'
    ? { content: { [response]: { schema: { type: 'string' } } } }
    : response;
}

function schemaOf(contract: RouteContract): object {
  const responses: Record<string, object> = errorResponses(contract);
  for (const [status, schema] of Object.entries(contract.responses))
    responses[status] = successResponse(schema);
  return {
    operationId: contract.operationId,
    tags: [contract.tag],
    summary: contract.summary,
    ...(contract.description === undefined ? {} : { description: contract.description }),
    ...(contract.params === undefined ? {} : { params: contract.params }),
    ...(contract.query === undefined ? {} : { querystring: contract.query }),
    ...(contract.body === undefined ? {} : { body: contract.body }),
    ...(contract.scope === null ? { security: [] } : {}),
    response: responses,
  };
}

/** The status of a success: each contract has one. */
function successStatus(contract: RouteContract): number {
  return Number(Object.keys(contract.responses)[0] ?? 200);
}

/** Serves `contract` with `handle`, which returns the body of the success. */
export function addRoute<Contract extends RouteContract>(
  app: FastifyInstance,
  contract: Contract,
  handle: (request: RouteRequest<Contract>) => Promise<Reply<Contract>>,
): void {
  addRawRoute(app, contract, async (request, reply) => reply.send(await handle(request)));
}

/** The same for a handler that sends the reply itself, because it is not JSON or is JSON already. */
export function addRawRoute<Contract extends RouteContract>(
  app: FastifyInstance,
  contract: Contract,
  handle: (request: RouteRequest<Contract>, reply: FastifyReply) => Promise<FastifyReply>,
): void {
  const status = successStatus(contract);
  app.route({
    method: contract.method,
    url: contract.path,
    schema: schemaOf(contract),
    config: { scope: contract.scope },
    ...(contract.bodyLimitBytes === undefined ? {} : { bodyLimit: contract.bodyLimitBytes }),
    handler: (request, reply) => {
      void reply.code(status);
      const { principal, params, query, body } = request;
      // The validator of the same contract has checked them.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return handle({ principal, params, query, body, raw: request } as RouteRequest<Contract>, reply);
    },
  });
}
