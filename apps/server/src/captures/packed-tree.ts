import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createZstdCompress, zstdDecompress } from 'node:zlib';
import { maxCaptureBytes } from '@phalanx/protocol';

import type { Pieces, StoredBlob } from '../blobs/blob-store.ts';

const unpack = promisify(zstdDecompress);

/** A tree as it is stored: its JSON repeats the same few names at each node, and shrinks to a tenth. */
export async function* packTree(json: Pieces): AsyncGenerator<Uint8Array> {
  const packing = createZstdCompress();
  const end = pipeline(json, packing);
  // An error of the body comes out of `packing` too.
  end.catch(() => undefined);
  yield* packing;
  await end;
}

/** A stored tree as the JSON that came, with its size. It is read here, and closed. */
export async function unpackTree(stored: StoredBlob): Promise<StoredBlob> {
  const json = await unpack(await buffer(stored.read()), { maxOutputLength: maxCaptureBytes });
  return {
    sizeBytes: json.length,
    version: stored.version,
    read: (span) =>
      Readable.from([span === undefined ? json : json.subarray(span.first, span.last + 1)], {
        objectMode: false,
      }),
    close: async () => undefined,
  };
}
