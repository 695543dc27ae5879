import type { Transform } from 'node:stream';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';

export type Coding = 'br' | 'gzip';

// Brotli of this quality is as fast as gzip, and smaller.
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** Compresses in Node's thread pool. */
export function compress(coding: Coding, data: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, bytes: Buffer): void =>
      error === null ? resolve(bytes) : reject(error);
    if (coding === 'br') brotliCompress(data, brotliOptions, done);
    else gzip(data, done);
  });
}

export const compressStream = (coding: Coding): Transform =>
  coding === 'br' ? createBrotliCompress(brotliOptions) : createGzip();

/** Chooses the best coding that an `Accept-Encoding` header accepts. */
export function chooseCoding(header: string | undefined): Coding | undefined {
  const offers = (header ?? '').toLowerCase().split(',');
  const accepts = (coding: Coding): boolean =>
    offers.some((offer) => {
      const [name = '', ...parameters] = offer.split(';').map((part) => part.trim());
      return name === coding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    });
  if (accepts('br')) return 'br';
  return accepts('gzip') ? 'gzip' : undefined;
}
