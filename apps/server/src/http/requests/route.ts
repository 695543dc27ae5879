import { type AuditAction, isOfTypes, isPaged, type ReplyOf, type RouteContract } from '@phalanx/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { withNote } from '../../storage/db/change-note.ts';
import { AuditEvent, actorOf, noteSuccess } from './audit-event.ts';
import type { ListReplies } from './replies/list-replies.ts';
import type { Principal } from './principal.ts';

declare module 'fastify' {
  interface FastifyInstance {
    lists: ListReplies;
  }
}

type Part<Schema> = Schema extends TSchema ? Static<Schema> : undefined;

/** A request that has a valid token and fits its contract. */
export interface RouteRequest<Contract extends RouteContract> {
  readonly principal: Principal;
  readonly params: Part<Contract['params']>;
  readonly query: Part<Contract['query']>;
  readonly body: Part<Contract['body']>;
  /** Audit event of a route with an audit action. */
  readonly auditEvent: Contract['audit'] extends AuditAction ? AuditEvent : undefined;
  readonly raw: FastifyRequest;
}

/** Returns the schemas that check requests and serialize replies. */
function schemaOf({ params, query, body, responses }: RouteContract): object {
  const ofJson = Object.entries(responses).filter(([, response]) => !isOfTypes(response));
  return {
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { querystring: query }),
    ...(body === undefined ? {} : { body }),
    response: Object.fromEntries(ofJson),
  };
}

/** Returns the status of a success; each contract has one. */
function successStatus(contract: RouteContract): number {
  return Number(Object.keys(contract.responses)[0] ?? 200);
}

/** Serves `contract` with `handle`, which returns the body of the success. */
export function addRoute<Contract extends RouteContract>(
  app: FastifyInstance,
  contract: Contract,
  handle: (request: RouteRequest<Contract>) => Promise<ReplyOf<Contract>>,
): void {
  if (isPaged(contract)) return addListRoute(app, contract, handle);
  addRawRoute(app, contract, async (request, reply) => reply.send(await handle(request)));
}

function addListRoute<Contract extends RouteContract>(
  app: FastifyInstance,
  contract: Contract,
  handle: (request: RouteRequest<Contract>) => Promise<ReplyOf<Contract>>,
): void {
  addRawRoute(app, contract, async (request, reply) => {
    const { principal, raw } = request;
    const encode = async (): Promise<string> => {
      const text = reply.serialize(await handle(request));
      return typeof text === 'string' ? text : new TextDecoder().decode(text);
    };
    const { body, etag } = await app.lists.read(principal, raw.url, encode);
    return reply.type('application/json; charset=utf-8').header('etag', etag).send(body);
  });
}

/** Serves `contract` with a handler that sends the reply itself, because it is not JSON or is JSON already. */
export function addRawRoute<Contract extends RouteContract>(
  app: FastifyInstance,
  contract: Contract,
  handle: (request: RouteRequest<Contract>, reply: FastifyReply) => Promise<FastifyReply>,
): void {
  const status = successStatus(contract);
  const { audit } = contract;
  const isAuditEvent = audit !== undefined && audit !== null;
  app.route({
    method: contract.method,
    url: contract.path,
    schema: schemaOf(contract),
    config: { scope: contract.scope, reach: contract.reach, ...(audit === undefined ? {} : { audit }) },
    ...(isAuditEvent ? { onSend: noteSuccess } : {}),
    ...(contract.bodyLimitBytes === undefined ? {} : { bodyLimit: contract.bodyLimitBytes }),
    handler: (request, reply) => {
      void reply.code(status);
      const { principal, params, query, body } = request;
      const auditEvent = isAuditEvent ? new AuditEvent(audit, actorOf(request)) : undefined;
      request.auditEvent = auditEvent;
      // The validator of the same contract has checked these values.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const given = { principal, params, query, body, auditEvent, raw: request } as RouteRequest<Contract>;
      if (auditEvent === undefined) return handle(given, reply);
      return withNote(request.server.auditEvents.noteOf(auditEvent), () => handle(given, reply));
    },
  });
}
