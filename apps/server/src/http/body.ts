import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';

import { ApiError } from './api-error.ts';
import { bytesAroundText, findExcess } from './json-bounds.ts';

/** The JSON around one long text, which may be as long as its endpoint allows. */
export const maxJsonBytes = 1024 * 1024;

export const jsonContentType = /^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i;

/** The place of the mistake, without the engine's own words (which quote the body). */
function placeOf(error: unknown): string {
  const place = error instanceof Error ? /line \d+ column \d+/.exec(error.message)?.[0] : undefined;
  return place === undefined ? 'it is empty, cut short or not JSON at all' : `look at ${place}`;
}

/** Throws `malformed_json`. */
export function parseJson(bytes: Buffer): unknown {
  const excess = findExcess(bytes);
  if (excess !== undefined) throw ApiError.of('malformed_json', { reason: `it ${excess}` });
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
      const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
      if (bytes.length > maxJsonBytes && bytesAroundText(bytes) > maxJsonBytes)
        throw ApiError.of('body_too_large', { limit: maxJsonBytes });
      done(null, parseJson(bytes));
    } catch (error) {
      done(error instanceof Error ? error : new Error('not JSON', { cause: error }));
    }
  });
}
