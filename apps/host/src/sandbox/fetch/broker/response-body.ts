import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** After decompression: the sandbox process holds all of it, and the isolate as text. */
const maxBodyBytes = 50 * 1024 * 1024;

const decoders: Record<string, (() => Duplex) | undefined> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Hands the decompressed body to `take`, piece by piece. Rejects when it is larger than a body may be. */
export async function readBody(
  response: IncomingMessage,
  take: (piece: Buffer) => Promise<void>,
): Promise<void> {
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    let sizeBytes = 0;
    for await (const piece of source) {
      sizeBytes += piece.length;
      if (sizeBytes > maxBodyBytes)
        throw new Error(`the response is larger than ${maxBodyBytes / 1024 / 1024} MB, the limit of fetch`);
      await take(piece);
    }
  };
  const createDecoder = decoders[response.headers['content-encoding']?.toLowerCase() ?? ''];
  if (createDecoder === undefined || !mayHaveBody(response)) await pipeline(response, collect);
  else await pipeline(response, createDecoder(), collect);
}

/** A decoder that gets no byte at all would fail. */
function mayHaveBody({ statusCode, headers, req }: IncomingMessage & { req?: { method: string } }): boolean {
  return (
    req?.method !== 'HEAD' && statusCode !== 204 && statusCode !== 304 && headers['content-length'] !== '0'
  );
}
