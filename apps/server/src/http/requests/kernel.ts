import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  fastify,
  type FastifyBaseLogger,
  type FastifyInstance,
  LogController,
  type FastifyReply,
  type FastifyRequest,
  type HTTPMethods,
} from 'fastify';
import type { Logger } from 'pino';
import type { TSchema } from 'typebox';
import type { Limits } from '../../kernel/limits/limits.ts';
import { type Authenticate, type FindCaller, requireCallers } from './authentication.ts';
import { callerAddress, networkOf, peerAddress, pathOf } from './addresses.ts';
import type { TrustProxy } from './trusted-proxies.ts';
import { serializerOf, compileValidator } from './validation.ts';
import { type AuditEventSink, addAuditing } from './audit-event.ts';
import { answerErrors, refuseMalformedHttp, sendError } from './replies/error-replies.ts';
import { ListReplies } from './replies/list-replies.ts';
import { representReplies } from './replies/representations.ts';
import { acceptJsonBodies, checkBodiesFirst, maxJsonBytes } from './bodies/request-bodies.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';

interface KernelOptions {
  log: Logger;
  authenticate: Authenticate;
  findCaller: FindCaller;
  limits: Limits;
  trustProxy: TrustProxy;
  /** Time for which a connection may be silent, in ms. */
  idleMs: number;
  noteFault: (error: unknown) => boolean;
  auditEvents: AuditEventSink;
  /** Updates the caches of this server before it decides about a caller; undefined if they are current. */
  catchUp: () => Promise<void> | undefined;
}

export interface HttpKernel {
  readonly app: FastifyInstance;
  readonly connections: Connections;
  /** Returns the address that a request comes from, for limits: one network counts as one. */
  readonly addressOf: (request: IncomingMessage) => string;
}

/**
 * Timeouts of a silent peer, in ms: between two requests, and until the headers of a request have come, which is
 * checked at an interval.
 */
const maxIdleMs = { betweenRequests: 60_000, untilHeaders: 20_000, checkEvery: 5000 };

/** Creates the HTTP server with the rules of every endpoint: request IDs, tokens, JSON, one shape for errors. */
export function createHttpKernel(options: KernelOptions): HttpKernel {
  const { limits, trustProxy, idleMs } = options;
  const loggerInstance: FastifyBaseLogger = options.log;
  const app = fastify({
    loggerInstance,
    // A logger of its own for each request costs more than most requests; what logs names the request.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: maxJsonBytes,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    // Time limit of a request with its body, against peers that trickle bytes.
    requestTimeout: 300_000,
    connectionTimeout: idleMs,
    keepAliveTimeout: Math.min(idleMs, maxIdleMs.betweenRequests),
    routerOptions: { maxParamLength: 500 },
    clientErrorHandler: (error, socket) => {
      refuseMalformedHttp(error, socket);
    },
    frameworkErrors: (error, request, reply) => {
      void sendError(error, request, reply);
    },
    forceCloseConnections: true,
    // Ignore an offer of HTTP/2 ("Upgrade: h2c").
    http: {
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
      headersTimeout: Math.min(idleMs, maxIdleMs.untilHeaders),
      connectionsCheckingInterval: Math.min(idleMs, maxIdleMs.checkEvery),
    },
  });
  app.decorate('noteFault', options.noteFault);
  app.decorate('lists', new ListReplies(limits.turns.lists));
  const connections = new Connections(limits, trustProxy);
  connections.watch(app.server);
  endSilent(app.server);
  limits.requestsUnderWay.watch(app.server);
  const addressOf = (request: IncomingMessage): string => callerAddress(request, trustProxy);
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler<TSchema>(({ schema }) => {
    const getSerializer = serializerOf(schema);
    return (reply) => getSerializer()(reply);
  });
  addAuditing(app, options.auditEvents, (request) => peerAddress(request, trustProxy));
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    connections.requirePlace(request.raw);
    done();
  });
  checkBodiesFirst(app, { turns: limits.turns.bodies, addressOf });
  representReplies(app);
  acceptJsonBodies(app);
  answerErrors(app);
  const { authenticate, findCaller, catchUp } = options;
  requireCallers(app, {
    authenticate,
    findCaller,
    addressOf,
    catchUp,
    admitStranger: (address) => limits.spend('requests', address),
  });
  return { app, connections, addressOf };
}

/**
 * Ends connections whose peer is silent. A peer that has sent its request and waits for the answer is not, however long
 * the work takes.
 */
function endSilent(server: Server): void {
  const answers = new WeakMap<Socket, ServerResponse>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answers.set(request.socket, response);
  });
  server.on('timeout', (socket: Socket) => {
    const answer = answers.get(socket);
    const isWorkedOn = answer?.req.complete === true && !answer.headersSent;
    if (!isWorkedOn) socket.destroy();
  });
}

/** Maximum number of connections beyond a limit that get a reply; the others are only closed. */
const maxRefused = 64;
/** Time in which a connection beyond a limit has to send a request, in ms. */
const refusalMs = 5000;

type Excess = 'connections' | 'address_connections';

/** Counts connections, by peer address. */
class Connections {
  readonly #limits: Limits;
  readonly #trust: TrustProxy;
  readonly #byAddress = new Map<string, number>();
  readonly #beyond = new WeakMap<object, Excess>();
  #open = 0;

  constructor(limits: Limits, trust: TrustProxy) {
    this.#limits = limits;
    this.#trust = trust;
  }

  get open(): number {
    return this.#open;
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#take(socket));
  }

  /** Throws `too_many_connections` if the connection of the request exceeds a limit. */
  requirePlace({ socket }: Pick<IncomingMessage, 'socket'>): void {
    const excess = this.#beyond.get(socket);
    if (excess !== undefined) throw this.#limits.refusal(excess, null, { seconds: 10 });
  }

  #take(socket: Socket): void {
    const direct = socket.remoteAddress ?? '';
    const address = this.#trust(direct) ? undefined : networkOf(direct);
    this.#count(address, 1);
    socket.once('close', () => this.#count(address, -1));
    const ofAddress = address === undefined ? 0 : (this.#byAddress.get(address) ?? 0);
    this.#refuse(socket, 'connections', this.#open);
    this.#refuse(socket, 'address_connections', ofAddress);
  }

  #refuse(socket: Socket, limit: Excess, count: number): void {
    const beyond = count - this.#limits.limitOf(limit);
    if (beyond <= 0) return;
    if (beyond > maxRefused) {
      this.#limits.note(limit, null);
      socket.destroy();
    }
    this.#beyond.set(socket, limit);
    socket.setTimeout(refusalMs, () => socket.destroy());
  }

  #count(address: string | undefined, change: number): void {
    this.#open += change;
    if (address === undefined) return;
    const count = (this.#byAddress.get(address) ?? 0) + change;
    if (count > 0) this.#byAddress.set(address, count);
    else this.#byAddress.delete(address);
  }
}

const allMethods: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Records the methods of each path. Call it before the routes are added, and `refuseOthers` after them. */
export function watchMethods(app: FastifyInstance): { refuseOthers: () => void } {
  const taken = new Map<string, Set<string>>();
  let watching = true;
  app.addHook('onRoute', ({ url, method }) => {
    if (!watching) return;
    const methods = taken.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    if (methods.has('GET')) methods.add('HEAD');
    taken.set(url, methods);
  });
  refuseUnknown(app, taken);
  return {
    refuseOthers: () => {
      watching = false;
      for (const [url, methods] of taken) refuse(app, url, methods);
    },
  };
}

const notAllowed = (request: FastifyRequest, reply: FastifyReply, taken: Iterable<string>): ApiError => {
  const allowed = [...taken].join(', ');
  void reply.header('allow', allowed);
  const path = pathOf(request.url);
  return ApiError.of('method_not_allowed', { path, method: request.method, allowed });
};

/** Refuses methods that no route can have, such as PROPFIND, by a lookup of the path. */
function refuseUnknown(app: FastifyInstance, taken: ReadonlyMap<string, Set<string>>): void {
  const known: readonly string[] = allMethods;
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 || known.includes(request.method)) return done();
    const path = pathOf(request.url);
    const methods = taken.get(path) ?? [...taken].find(([url]) => patternOf(url).test(path))?.[1];
    done(methods && notAllowed(request, reply, methods));
  });
}

/** Returns the pattern of a route. `:id` matches one segment. */
const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replaceAll('.', String.raw`\.`)
      .replaceAll('*', '.*')
      .replaceAll(/:\w+/g, '[^/]+')}$`,
  );

function refuse(app: FastifyInstance, url: string, taken: ReadonlySet<string>): void {
  const others = allMethods.filter((method) => !taken.has(method));
  if (others.length === 0 || url.includes('*')) return;
  app.route({
    url,
    method: others,
    config: { scope: null, reach: null, audit: null },
    // Runs before the body is read, so that a wrong method is named even when the body is unreadable too.
    onRequest: async (request, reply) => sendError(notAllowed(request, reply, taken), request, reply),
    handler: async () => undefined,
  });
}
