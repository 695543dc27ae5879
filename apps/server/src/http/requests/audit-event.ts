import type { IncomingMessage } from 'node:http';
import { auditActions, type AuditAction, type AuditSubject } from '@phalanx/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChangeNote } from '../../storage/db/change-note.ts';
import type { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from './principal.ts';

/** Set during such requests, so that their audit events name the caller. */
export const calledBy = new AsyncLocalStorage<CalledBy>();

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Action of the route in the audit log; `null`: it changes nothing. Only GET and HEAD may go without. */
    audit?: AuditAction | null;
  }
  interface FastifyRequest {
    /** Event of what the request changes; `undefined` until its handler begins. */
    auditEvent: AuditEvent | undefined;
  }
  interface FastifyInstance {
    auditEvents: AuditEventSink;
    /** Returns the address that a request comes from. */
    peerOf: PeerOf;
  }
}

type PeerOf = (request: IncomingMessage) => string;

/** Author of an action, as far as known. */
export interface Actor {
  principal: Pick<Principal, 'userId' | 'userName' | 'tokenId' | 'tokenName'> | undefined;
  readonly address: string | null;
  readonly requestId: string | null;
}

/**
 * Audit record of what a request changes. The handler of the request sets the
 * subject.
 */
export class AuditEvent {
  readonly actor: Actor;
  action: AuditAction;
  /** Subject of the action; null until something is changed. */
  subject: AuditSubject | null = null;
  /** Owners of the affected resources, who may read the entry. */
  readonly concerned = new Set<string>();
  /** Details that contain no secret, and nothing of what users write into files or parameters. */
  details: Record<string, unknown> = {};
  /** Whether the event was stored in the transaction of its change. */
  isNoted = false;
  /** Whether the event is frequent: the first is written, further ones are counted. */
  isFrequent = false;

  constructor(action: AuditAction, actor: Actor) {
    this.action = action;
    this.actor = actor;
    this.add({ ...calledBy.getStore() });
    if (actor.principal !== undefined) this.concerned.add(actor.principal.userId);
  }

  on(subject: AuditSubject, concerned: Iterable<string>, details: Record<string, unknown> = {}): void {
    this.subject = subject;
    for (const userId of concerned) this.concerned.add(userId);
    this.add(details);
  }

  add(details: Record<string, unknown>): void {
    this.details = { ...this.details, ...details };
  }
}

/** Stores audit events. */
export interface AuditEventSink {
  /** Returns the note that stores an event in the transaction of its change. */
  noteOf(auditEvent: AuditEvent): ChangeNote;
  /** Resolves when an event is stored. */
  done(auditEvent: AuditEvent): Promise<void>;
  /** Stores it later, so that nobody waits for it. */
  happened(auditEvent: AuditEvent): void;
  /** Stores it later, so that nobody waits for it. */
  failed(auditEvent: AuditEvent, error: ApiError): void;
}

export const actorOf = (request: FastifyRequest): Actor => ({
  principal: request.hasPrincipal ? request.principal : undefined,
  address: request.server.peerOf(request.raw),
  requestId: request.id,
});

/** Adds an audit entry for each request that changes something, before its answer, and for each refusal. */
export function addAuditing(app: FastifyInstance, auditEvents: AuditEventSink, peerOf: PeerOf): void {
  app.decorate('peerOf', peerOf);
  app.decorate('auditEvents', auditEvents);
  app.decorateRequest('auditEvent');
  app.addHook('onRoute', ({ method, url, config }) => {
    const isReading = [method].flat().every((one) => one === 'GET' || one === 'HEAD');
    if (isReading || config?.audit !== undefined) return;
    throw new Error(`${String(method)} ${url} has no audit action: name one, or null if it changes nothing`);
  });
}

/** Notes the success of a route with an action before it is answered, unless a transaction has stored it. */
export async function noteSuccess(
  request: FastifyRequest,
  { statusCode }: { statusCode: number },
): Promise<void> {
  const { auditEvent } = request;
  if (auditEvent === undefined || auditEvent.subject === null || statusCode >= 400) return;
  const { auditEvents } = request.server;
  if (!auditEvent.isNoted && auditEvent.isFrequent) auditEvents.happened(auditEvent);
  else if (!auditEvent.isNoted) await auditEvents.done(auditEvent);
  auditEvent.isNoted = true;
}

const idIn = (params: unknown): unknown =>
  typeof params === 'object' && params !== null && 'id' in params ? params.id : undefined;

/** Notes a refusal. Call it for every failed request. */
export function noteFailure(request: FastifyRequest, error: ApiError): void {
  const { config, url } = request.routeOptions;
  const auditEvent = request.auditEvent ?? new AuditEvent(config.audit ?? 'read', actorOf(request));
  const id = idIn(request.params);
  const type = auditActions[auditEvent.action];
  // The ID comes from the request, which may have guessed it.
  if (
    auditEvent.subject === null &&
    request.hasPrincipal &&
    error.status < 500 &&
    typeof id === 'string' &&
    type !== null
  )
    auditEvent.subject = { type, id: id.slice(0, 200), name: null };
  if (url !== undefined) auditEvent.add({ route: `${request.method} ${url}` });
  request.server.auditEvents.failed(auditEvent, error);
}

/** Entry point such as `/mcp`, which makes requests with the token of its caller. */
interface CalledBy {
  readonly via: 'mcp';
  /** Name under which the caller's program introduces itself. */
  readonly client: string;
}
