import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';

import { ApiError, errorBody } from './api-error.ts';

const frameworkErrors: Record<string, (request: FastifyRequest) => ApiError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (request) =>
    ApiError.of('body_too_large', { limit: request.routeOptions.bodyLimit ?? 0 }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => ApiError.of('unsupported_media_type', {}),
  FST_ERR_BAD_URL: () =>
    ApiError.of('invalid_request', { problem: 'The address is not well-formed: look at its percent signs' }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    ApiError.of('invalid_request', { problem: 'The body is not as long as its Content-Length says' }),
};

function asApiError(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = frameworkErrors[code]?.(request);
  return known ?? ApiError.of('internal', { request_id: request.id }, { cause: error });
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = asApiError(error, request);
  if (known.status >= 500)
    request.log.error({ err: known.cause ?? known, code: known.code }, 'request failed');
  if (known.code === 'unauthorized') void reply.header('www-authenticate', 'Bearer');
  return reply
    .code(known.status)
    .header('x-request-id', request.id)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(known)));
}

/** What Node's HTTP parser refuses never becomes a request; the reply is written by hand. */
export function refuseMalformedHttp(_error: Error, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(
    errorBody(ApiError.of('invalid_request', { problem: 'This is not a well-formed HTTP/1.1 request' })),
  );
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nx-request-id: ${crypto.randomUUID()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    return sendError(ApiError.of('route_not_found', { method: request.method, path }), request, reply);
  });
}
