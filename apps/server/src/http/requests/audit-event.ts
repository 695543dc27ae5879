import type { IncomingMessage } from 'node:http';
import { auditActions, type AuditAction, type AuditSubject } from '@phalanx/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChangeNote } from '../../storage/db/change-note.ts';
import type { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from './principal.ts';

/** Set while such requests are made; what they change is noted with it. */
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

/** User or stranger who does something, as far as that is known. */
export interface Actor {
  principal: Pick<Principal, 'userId' | 'userName' | 'tokenId' | 'tokenName'> | undefined;
  readonly address: string | null;
  readonly requestId: string | null;
}

/**
 * Record of what a request changes, for people who have to answer for it later. The handler of the request sets the
 * subject.
 */
export class AuditEvent {
  readonly actor: Actor;
  action: AuditAction;
  /** Null as long as nothing is done. */
  subject: AuditSubject | null = null;
  /** Owners of the things that it is done to: they may read of it. */
  readonly concerned = new Set<string>();
  /** Details that contain no secret, and nothing of what users write into files or parameters. */
  details: Record<string, unknown> = {};
  /** True: it was stored together with the change itself. */
  isNoted = false;
  /** True: it comes again and again, so that the first is noted and the rest are counted. */
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
  /** Returns the note that stores it in the transaction of its change. */
  noteOf(auditEvent: AuditEvent): ChangeNote;
  /** Resolves when it is stored for good. */
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

/** Notes what requests change before they are answered, and what they were refused. */
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

/** Runs for routes with an action: a success that changes nothing in the database is noted before it is answered. */
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

/** Call it for every answer of a request that is no success. */
export function noteFailure(request: FastifyRequest, error: ApiError): void {
  const { config, url } = request.routeOptions;
  const auditEvent = request.auditEvent ?? new AuditEvent(config.audit ?? 'read', actorOf(request));
  const id = idIn(request.params);
  const type = auditActions[auditEvent.action];
  // The ID is as the request named it, which may be by guessing.
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

/** Way into the service that makes requests of its own, with the token of the caller who came by it. */
interface CalledBy {
  readonly via: 'mcp';
  /** Name that the caller's program gives itself. */
  readonly client: string;
}
