import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import { errorBody, type ApiError } from '../../../kernel/errors/api-error.ts';

const lingerMs = 1000;

/**
 * Answers on a socket whose request never reached the framework. `method`: of the request; the answer to a HEAD has no
 * body.
 */
export function refuseSocket(socket: Duplex, error: ApiError, method?: string): void {
  const body = JSON.stringify(errorBody(error));
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Error'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${crypto.randomUUID()}`,
    ...(error.status === 401 ? ['WWW-Authenticate: Bearer'] : []),
    ...(error.retryAfterS === undefined ? [] : [`Retry-After: ${error.retryAfterS}`]),
    'Connection: close',
  ];
  // Close later: a peer that is still sending would not read the answer, and may never close its side.
  socket.once('finish', () => setTimeout(() => socket.destroy(), lingerMs).unref());
  socket.once('end', () => socket.destroy());
  socket.resume();
  socket.end(`${head.join('\r\n')}\r\n\r\n${method === 'HEAD' ? '' : body}`);
}
