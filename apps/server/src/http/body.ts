import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';

import { ApiError } from './api-error.ts';

export const jsonContentType = /^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i;

/** The place of the mistake, without the engine's own words (which quote the body). */
function placeOf(error: unknown): string {
  const place = error instanceof Error ? /line \d+ column \d+/.exec(error.message)?.[0] : undefined;
  return place === undefined ? 'it is empty, cut short or not JSON at all' : `look at ${place}`;
}

/** Throws `malformed_json`. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw ApiError.of('malformed_json', { reason: 'it is not UTF-8' });
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw ApiError.of('malformed_json', { reason: placeOf(error) });
  }
}

/** Bodies are JSON and nothing else. */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(jsonContentType, { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJson(Buffer.isBuffer(body) ? body : Buffer.from(body)));
    } catch (error) {
      done(error instanceof Error ? error : new Error('not JSON', { cause: error }));
    }
  });
}
