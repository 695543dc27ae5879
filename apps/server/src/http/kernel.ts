import { randomUUID } from 'node:crypto';
import { fastify, LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

import { requireTokens, type Authenticate } from './authentication.ts';
import { acceptJsonBodies, maxJsonBytes } from './body.ts';
import { compressReplies } from './compression.ts';
import { noteDeeds, type DeedLog } from './deed.ts';
import { tagReplies } from './entity-tags.ts';
import { answerErrors, refuseMalformedHttp, sendError } from './error-replies.ts';
import { checkBodiesFirst } from './request-bodies.ts';
import { compileValidator } from './validation.ts';

/** An HTTP server with the rules that hold for every endpoint: request IDs, tokens, JSON, one shape for errors. */
export function createHttpKernel(options: {
  log: Logger;
  authenticate: Authenticate;
  noteFault: (error: unknown) => boolean;
  deeds: DeedLog;
}): FastifyInstance {
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
    routerOptions: { maxParamLength: 500 },
    clientErrorHandler: (error, socket) => {
      refuseMalformedHttp(error, socket);
    },
    frameworkErrors: (error, request, reply) => {
      void sendError(error, request, reply);
    },
    forceCloseConnections: true,
    // Clients that offer HTTP/2 in passing ("Upgrade: h2c") are answered as if they had not.
    http: { shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket' },
  });
  app.decorate('noteFault', options.noteFault);
  app.setValidatorCompiler(compileValidator);
  noteDeeds(app, options.deeds);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    done();
  });
  checkBodiesFirst(app);
  tagReplies(app);
  compressReplies(app);
  acceptJsonBodies(app);
  answerErrors(app);
  requireTokens(app, options.authenticate);
  return app;
}
