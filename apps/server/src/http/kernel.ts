import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { fastify, type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { TSchema } from 'typebox';

import type { Limits } from '../limits/limits.ts';
import { type Authenticate, type FindCaller, requireCallers } from './authentication.ts';
import { callerAddress, networkOf, peerAddress, type TrustProxy } from './addresses/caller-address.ts';
import { serializerOf, compileValidator } from './validation.ts';
import { type AuditEventSink, noteDeeds } from './audit-event.ts';
import { answerErrors, refuseMalformedHttp, sendError } from './replies/error-replies.ts';
import { ListReplies } from './replies/list-replies.ts';
import { representReplies } from './replies/representations.ts';
import { acceptJsonBodies, checkBodiesFirst, maxJsonBytes } from './bodies/request-bodies.ts';

interface KernelOptions {
  log: Logger;
  authenticate: Authenticate;
  findCaller: FindCaller;
  limits: Limits;
  trustProxy: TrustProxy;
  /** How long a connection may be silent. */
  idleMs: number;
  noteFault: (error: unknown) => boolean;
  auditEvents: AuditEventSink;
  /** Brings the caches of this server up to date before it decides about a caller; undefined: they are. */
  catchUp: () => Promise<void> | undefined;
}

export interface HttpKernel {
  readonly app: FastifyInstance;
  readonly connections: Connections;
  /** Where a request comes from. */
  readonly addressOf: (request: IncomingMessage) => string;
}

/** What a silent peer may hold: a request has begun, is between two, or has not come at all. */
const mostIdleMs = { betweenRequests: 60_000, untilHeaders: 20_000, checkEvery: 5000 };

/** An HTTP server with the rules that hold for every endpoint: request IDs, tokens, JSON, one shape for errors. */
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
    // For the whole request with its body, against peers that send a byte now and then.
    requestTimeout: 300_000,
    connectionTimeout: idleMs,
    keepAliveTimeout: Math.min(idleMs, mostIdleMs.betweenRequests),
    routerOptions: { maxParamLength: 500 },
    clientErrorHandler: (error, socket) => {
      refuseMalformedHttp(error, socket);
    },
    frameworkErrors: (error, request, reply) => {
      void sendError(error, request, reply);
    },
    forceCloseConnections: true,
    // Clients that offer HTTP/2 in passing ("Upgrade: h2c") are answered as if they had not.
    http: {
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
      headersTimeout: Math.min(idleMs, mostIdleMs.untilHeaders),
      connectionsCheckingInterval: Math.min(idleMs, mostIdleMs.checkEvery),
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
  noteDeeds(app, options.auditEvents, (request) => peerAddress(request, trustProxy));
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
    ...{ authenticate, findCaller, addressOf, catchUp },
    admitStranger: (address) => limits.spend('requests', address),
    turns: limits.requestTurns,
  });
  return { app, connections, addressOf };
}

/** Ends connections whose peer is silent. One that has said all and waits for its answer is not, however long the work takes. */
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

/** So many beyond a limit are told so; the others are only closed. */
const mostTold = 64;
/** So long who is told has to send a request. */
const tellMs = 5000;

type Excess = 'connections' | 'address_connections';

/** Counts connections, by the address that they come from. */
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

  /** Throws `too_many_connections` when the connection of the request is one too many. */
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
    const beyond = count - this.#limits.most(limit);
    if (beyond <= 0) return;
    if (beyond > mostTold) {
      this.#limits.note(limit, null);
      socket.destroy();
    }
    this.#beyond.set(socket, limit);
    socket.setTimeout(tellMs, () => socket.destroy());
  }

  #count(address: string | undefined, change: number): void {
    this.#open += change;
    if (address === undefined) return;
    const count = (this.#byAddress.get(address) ?? 0) + change;
    if (count > 0) this.#byAddress.set(address, count);
    else this.#byAddress.delete(address);
  }
}
