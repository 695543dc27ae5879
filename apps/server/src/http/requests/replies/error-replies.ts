import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
import { errorCodeOf, ApiError, errorBody } from '../../../kernel/errors/api-error.ts';
import { findFault } from '../../../kernel/faults/fault-monitor.ts';
import { noteFailure } from '../audit-event.ts';
import { refuseSocket } from '../sockets/refuse-socket.ts';
import { endUnreadBody } from '../bodies/request-bodies.ts';
import { pathOf } from '../addresses.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns whether an error is a fault of the environment, and reports it to the operator if it is. */
    noteFault: (error: unknown) => boolean;
  }
}

const frameworkErrors: Record<string, (request: FastifyRequest) => ApiError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (request) =>
    ApiError.of('body_too_large', { limit: request.routeOptions.bodyLimit ?? 0 }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => ApiError.of('unsupported_media_type', {}),
  FST_ERR_BAD_URL: () =>
    ApiError.of('invalid_request', { problem: 'The URL is malformed: check its percent-encoding' }),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    ApiError.of('invalid_request', { problem: 'A segment of the path is too long' }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    ApiError.of('invalid_request', { problem: 'The length of the body differs from its Content-Length' }),
};

export function asApiError(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  // The peer has gone, so the answer reaches nobody.
  if (request.raw.destroyed && !request.raw.complete)
    return ApiError.of('invalid_request', { problem: 'The body was cut off' }, { cause: error });
  const known = frameworkErrors[errorCodeOf(error)]?.(request) ?? faultReply(error);
  return known ?? ApiError.of('internal', { request_id: request.id }, { cause: error });
}

/** Failed parts are probed each second. */
const faultRetryS = 1;

function faultReply(error: unknown): ApiError | undefined {
  const { code, reason } = findFault(error) ?? {};
  if (code === undefined || reason === undefined) return undefined;
  return code === 'storage_full'
    ? ApiError.of(code, {}, { cause: error, retryAfterS: faultRetryS })
    : ApiError.of(code, { reason }, { cause: error, retryAfterS: faultRetryS });
}

/** Logs a fault once, however many requests meet it, and a bug of the service each time. */
export function logFailure(error: unknown, known: ApiError, request: FastifyRequest): void {
  noteFailure(request, known);
  if (
    known.status < 500 ||
    known.code === 'not_ready' ||
    known.code === 'too_busy' ||
    request.server.noteFault(error)
  )
    return;
  request.log.error({ reqId: request.id, err: known.cause ?? known, code: known.code }, 'request failed');
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = asApiError(error, request);
  logFailure(error, known, request);
  endUnreadBody(request, reply);
  if (known.code === 'unauthorized') void reply.header('www-authenticate', 'Bearer');
  setRetryAfter(known, reply);
  return reply
    .code(known.status)
    .header('x-request-id', request.id)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(known)));
}

/** Sets `Retry-After` if a retry makes sense. A caller with too many connections has to close this one. */
export function setRetryAfter({ code, retryAfterS }: ApiError, reply: FastifyReply): void {
  if (retryAfterS !== undefined) void reply.header('retry-after', retryAfterS);
  if (code === 'too_many_connections') void reply.header('connection', 'close');
}

const parserErrors: Record<string, ApiError> = {
  HPE_HEADER_OVERFLOW: ApiError.of('headers_too_large', { limit: maxHeaderSize }),
  ERR_HTTP_REQUEST_TIMEOUT: ApiError.of('request_timeout', {}),
};
const malformed = ApiError.of('invalid_request', { problem: 'This is not a well-formed HTTP/1.1 request' });

/** Writes the reply to the socket, because the framework never sees a request that Node's HTTP parser refuses. */
export function refuseMalformedHttp(error: Error, socket: Socket): void {
  if (socket.writable) refuseSocket(socket, parserErrors[errorCodeOf(error)] ?? malformed);
  else socket.destroy();
}

export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request.url);
    return sendError(ApiError.of('route_not_found', { method: request.method, path }), request, reply);
  });
}
