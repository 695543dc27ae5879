import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const tagsIn = (header: string): string[] => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));

/** Whether an `If-Match` or `If-None-Match` header names this version; `undefined`: there is nothing yet. */
export function namesVersion(header: string, tag: string | undefined): boolean {
  if (tag === undefined) return false;
  const tags = tagsIn(header);
  return tags.includes('*') || tags.includes(tag.replace(/^W\//, ''));
}

/** Every JSON that is read has an `ETag`; who names it in `If-None-Match` gets a 304 without a body. */
export function tagReplies(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload: unknown, done) => {
    if (request.method === 'GET' && reply.statusCode === 200) done(null, tagged(request, reply, payload));
    else done(null, payload);
  });
}

function tagged(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  if (typeof payload === 'string' && !reply.hasHeader('etag'))
    void reply.header('etag', `W/"${hash('sha1', payload, 'base64url')}"`);
  const tag = reply.getHeader('etag');
  const known = request.headers['if-none-match'];
  if (typeof tag !== 'string' || known === undefined || !namesVersion(known, tag)) return payload;
  void reply.code(304).removeHeader('content-type').removeHeader('content-length');
  return '';
}
