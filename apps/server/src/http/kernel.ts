import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { fastify, LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

import type { Limits } from '../limits/limits.ts';
import { requireCallers, type Authenticate, type FindCaller } from './authentication.ts';
import { acceptJsonBodies, maxJsonBytes } from './body.ts';
import { callerAddress, peerAddress, type TrustProxy } from './caller-address.ts';
import { compressReplies } from './compression.ts';
import { Connections } from './connections.ts';
import { noteDeeds, type DeedLog } from './deed.ts';
import { tagReplies } from './entity-tags.ts';
import { answerErrors, refuseMalformedHttp, sendError } from './error-replies.ts';
import { checkBodiesFirst } from './request-bodies.ts';
import { compileValidator } from './validation.ts';

interface KernelOptions {
  log: Logger;
  authenticate: Authenticate;
  findCaller: FindCaller;
  limits: Limits;
  trustProxy: TrustProxy;
  /** How long a connection may be silent. */
  idleMs: number;
  noteFault: (error: unknown) => boolean;
  deeds: DeedLog;
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
  const connections = new Connections(limits, trustProxy);
  connections.watch(app.server);
  const addressOf = (request: IncomingMessage): string => callerAddress(request, trustProxy);
  app.setValidatorCompiler(compileValidator);
  noteDeeds(app, options.deeds, (request) => peerAddress(request, trustProxy));
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    connections.requirePlace(request.raw);
    done();
  });
  checkBodiesFirst(app);
  tagReplies(app);
  compressReplies(app);
  acceptJsonBodies(app);
  answerErrors(app);
  const { authenticate, findCaller } = options;
  requireCallers(app, {
    ...{ authenticate, findCaller, addressOf },
    admitStranger: (address) => limits.spend('requests', address),
  });
  return { app, connections, addressOf };
}
