import type { FastifyReply, FastifyRequest } from 'fastify';

import type { StoredBlob } from '../../storage/blobs/blob-store.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';

/** Sends a blob, the byte range that the request asks for, or 304 when the caller has it cached. Closes the blob. */
export async function sendBlob(
  blob: StoredBlob,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const etag = `"${blob.version}"`;
  if (isCached(headers['if-none-match'], etag)) {
    await blob.close();
    return reply.code(304).removeHeader('content-type').send();
  }
  const isOtherVersion = headers['if-range'] !== undefined && headers['if-range'] !== etag;
  const range = isOtherVersion ? 'whole' : parseRange(headers.range, blob.sizeBytes);
  if (range === 'unsatisfiable') {
    await blob.close();
    void reply.header('content-range', `bytes */${blob.sizeBytes}`).header('cache-control', 'no-store');
    throw ApiError.of('range_not_satisfiable', { size: blob.sizeBytes });
  }
  if (blob.sizeBytes === 0) {
    await blob.close();
    return reply.header('content-length', 0).send('');
  }
  const { first, last } = range === 'whole' ? { first: 0, last: blob.sizeBytes - 1 } : range;
  void reply.header('content-length', last - first + 1);
  if (range !== 'whole')
    void reply.code(206).header('content-range', `bytes ${first}-${last}/${blob.sizeBytes}`);
  return reply.send(blob.read({ first, last }));
}

function isCached(header: string | undefined, etag: string): boolean {
  const known = (header ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes(etag) || known.includes('*');
}

interface ByteRange {
  /** First byte, counted from 0. Both ends are inclusive. */
  first: number;
  last: number;
}

/**
 * Parses a `Range` header (RFC 9110, section 14). `whole`: the header is missing, or may be ignored because it is
 * malformed, in other units or of several ranges. `unsatisfiable`: the range lies outside the blob.
 */
export function parseRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'whole' | 'unsatisfiable' {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  const [, from, to] = match ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return 'whole';
  if (from === '') return lastBytes(Number(to), sizeBytes);
  if (to !== '' && Number(to) < Number(from)) return 'whole';
  if (Number(from) >= sizeBytes) return 'unsatisfiable';
  return { first: Number(from), last: Math.min(to === '' ? Infinity : Number(to), sizeBytes - 1) };
}

function lastBytes(count: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  if (count === 0 || sizeBytes === 0) return 'unsatisfiable';
  return { first: Math.max(0, sizeBytes - count), last: sizeBytes - 1 };
}
