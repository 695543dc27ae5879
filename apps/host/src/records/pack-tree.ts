import { promisify } from 'node:util';
import { constants, gunzip, gzip, gzipSync } from 'node:zlib';

import { maxCaptureBytes, type ScreenTree } from '@phalanx/protocol';

/** JSON of a tree, compressed: about a tenth. Undefined when it is larger than the server takes. */
export type PackedTree = Buffer | undefined;

const compress = promisify(gzip);
const expand = promisify(gunzip);

/** The way to a thread and back takes longer than compressing so much. */
const maxSoonBytes = 64 * 1024;
const form = { level: constants.Z_BEST_SPEED };

/** Compresses all but small trees outside the event loop. */
export async function packTree(
  tree: Omit<ScreenTree, 'treeId' | 'source'> & { source: string },
): Promise<PackedTree> {
  const json = Buffer.from(JSON.stringify(tree));
  if (json.byteLength > maxCaptureBytes) return undefined;
  return json.byteLength > maxSoonBytes ? compress(json, form) : gzipSync(json, form);
}

export function unpackTree(packed: Buffer): Promise<Buffer> {
  return expand(packed, { maxOutputLength: maxCaptureBytes });
}
