import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';

import { maxCaptureBytes, type ScreenTree } from '@phalanx/protocol';

/** JSON of a tree, compressed: about a tenth. Undefined when it is larger than the server takes. */
export type PackedTree = Buffer | undefined;

const compress = promisify(gzip);
const expand = promisify(gunzip);

/** Compresses outside the event loop. */
export async function packTree(
  tree: Omit<ScreenTree, 'treeId' | 'source'> & { source: string },
): Promise<PackedTree> {
  const json = Buffer.from(JSON.stringify(tree));
  return json.byteLength > maxCaptureBytes ? undefined : compress(json, { level: constants.Z_BEST_SPEED });
}

export function unpackTree(packed: Buffer): Promise<Buffer> {
  return expand(packed, { maxOutputLength: maxCaptureBytes });
}
