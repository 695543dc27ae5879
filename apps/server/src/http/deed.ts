import type { IncomingMessage } from 'node:http';
import { auditActions, type AuditAction, type AuditSubject } from '@phalanx/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { ApiError } from './api-error.ts';
import type { Principal } from './principal.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the audit log calls it; `null`: it changes nothing. Only GET may go without. */
    audit?: AuditAction | null;
  }
  interface FastifyRequest {
    /** What it changes; `undefined` until its handler begins. */
    deed: Deed | undefined;
  }
  interface FastifyInstance {
    deeds: DeedLog;
    /** Where a request comes from. */
    peerOf: PeerOf;
  }
}

type PeerOf = (request: IncomingMessage) => string;

/** Who does something, as far as that is known. */
export interface Doer {
  principal: Pick<Principal, 'userId' | 'userName' | 'tokenId' | 'tokenName'> | undefined;
  readonly address: string | null;
  readonly requestId: string | null;
}

/** What a request changes, for whoever has to answer for it later. Its handler says what it is done to. */
export class Deed {
  readonly doer: Doer;
  action: AuditAction;
  /** Null as long as nothing is done. */
  subject: AuditSubject | null = null;
  /** Whose things it is done to: they may read of it. */
  readonly concerned = new Set<string>();
  /** Never a secret, and nothing of what users write into files or parameters. */
  details: Record<string, unknown> = {};
  /** True: it was stored together with the change itself. */
  isNoted = false;
  /** True: it comes again and again, so that the first is noted and the rest are counted. */
  isFrequent = false;

  constructor(action: AuditAction, doer: Doer) {
    this.action = action;
    this.doer = doer;
    if (doer.principal !== undefined) this.concerned.add(doer.principal.userId);
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

/** Where deeds are noted. */
export interface DeedLog {
  /** Resolves when it is stored for good. */
  done(deed: Deed): Promise<void>;
  /** Nobody waits for it. */
  happened(deed: Deed): void;
  /** Nobody waits for it. */
  failed(deed: Deed, error: ApiError): void;
}

export const doerOf = (request: FastifyRequest): Doer => ({
  principal: request.hasPrincipal ? request.principal : undefined,
  address: request.server.peerOf(request.raw),
  requestId: request.id,
});

/** Notes what requests change before they are answered, and what they were refused. */
export function noteDeeds(app: FastifyInstance, deeds: DeedLog, peerOf: PeerOf): void {
  app.decorate('peerOf', peerOf);
  app.decorate('deeds', deeds);
  app.decorateRequest('deed');
  app.addHook('onRoute', ({ method, url, config }) => {
    const isReading = [method].flat().every((one) => one === 'GET' || one === 'HEAD');
    if (isReading || config?.audit !== undefined) return;
    throw new Error(`${String(method)} ${url} has no audit action: name one, or null if it changes nothing`);
  });
}

/** For routes with an action: the answer of a success waits for its note. */
export async function noteSuccess(
  request: FastifyRequest,
  { statusCode }: { statusCode: number },
): Promise<void> {
  const { deed } = request;
  if (deed === undefined || deed.isNoted || deed.subject === null || statusCode >= 400) return;
  deed.isNoted = true;
  if (deed.isFrequent) request.server.deeds.happened(deed);
  else await request.server.deeds.done(deed);
}

const idIn = (params: unknown): unknown =>
  typeof params === 'object' && params !== null && 'id' in params ? params.id : undefined;

/** Call it with whatever a request is answered with that is no success. */
export function noteFailure(request: FastifyRequest, error: ApiError): void {
  const { config, url } = request.routeOptions;
  const deed = request.deed ?? new Deed(config.audit ?? 'read', doerOf(request));
  const id = idIn(request.params);
  const type = auditActions[deed.action];
  // As it was named, which may be by guessing.
  if (
    deed.subject === null &&
    request.hasPrincipal &&
    error.status < 500 &&
    typeof id === 'string' &&
    type !== null
  )
    deed.subject = { type, id: id.slice(0, 200), name: null };
  if (url !== undefined) deed.add({ route: `${request.method} ${url}` });
  request.server.deeds.failed(deed, error);
}
