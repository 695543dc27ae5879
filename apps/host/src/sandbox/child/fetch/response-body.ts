import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** After decompression. The body is held in this process and, as text, in the isolate. */
const maxBodyBytes = 50 * 1024 * 1024;

const decoders: Record<string, (() => Duplex) | undefined> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** The whole body, decompressed. Rejects when it is larger than a body may be. */
export async function readBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    let sizeBytes = 0;
    for await (const chunk of source) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBodyBytes)
        throw new Error(`the response is larger than ${maxBodyBytes / 1024 / 1024} MB, the limit of fetch`);
      chunks.push(chunk);
    }
  };
  const createDecoder = decoders[response.headers['content-encoding']?.toLowerCase() ?? ''];
  if (createDecoder === undefined || !mayHaveBody(response)) await pipeline(response, collect);
  else await pipeline(response, createDecoder(), collect);
  return Buffer.concat(chunks);
}

/** A decoder that gets no byte at all would fail. */
function mayHaveBody({ statusCode, headers, req }: IncomingMessage & { req?: { method: string } }): boolean {
  return (
    req?.method !== 'HEAD' && statusCode !== 204 && statusCode !== 304 && headers['content-length'] !== '0'
  );
}
