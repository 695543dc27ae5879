import type { RouteContract } from '@phalanx/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { addRawRoute, type RouteRequest } from '../http/route.ts';
import { ApiError } from '../errors/api-error.ts';
import { type BlobKind, contentTypes } from './captures.ts';
import { tooLarge } from './checked-body.ts';

interface UploadRoute<Contract extends RouteContract> {
  kindOf: (request: RouteRequest<Contract>) => BlobKind;
  take: (request: RouteRequest<Contract>, body: AsyncIterable<Uint8Array>) => Promise<void>;
}

/** Serves an endpoint whose body is not JSON. Such bodies are let through here and nowhere else. */
export async function addUploadRoute<Contract extends RouteContract>(
  app: FastifyInstance,
  contract: Contract,
  { kindOf, take }: UploadRoute<Contract>,
): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    addRawRoute(scope, contract, async (request, reply) => {
      requireHeaders(request.raw, kindOf(request));
      // A refusal must reach the host, so its socket stays open.
      await take(request, request.raw.raw.iterator({ destroyOnReturn: false }));
      return reply.send({ success: true });
    });
  });
}

function requireHeaders({ headers, routeOptions }: FastifyRequest, kind: BlobKind): void {
  const given = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  const contentType = contentTypes[kind];
  if (given !== contentType) throw ApiError.of('wrong_capture_type', { content_type: contentType });
  if (Number(headers['content-length'] ?? 0) > (routeOptions.bodyLimit ?? 0)) throw tooLarge(kind);
}
