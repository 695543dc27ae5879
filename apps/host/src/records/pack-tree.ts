import { promisify } from 'node:util';
import { constants, gunzip, gzip, gzipSync } from 'node:zlib';
import { maxCaptureBytes, type ScreenTree, type UiNode } from '@phalanx/protocol';

/** Waits that read the screen between a reading and its storing are common; more than a few are not. */
const keptTrees = 5;

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

/** A tree that this host has read. */
interface KeptTree {
  /** Epoch milliseconds on the host's clock. */
  readonly capturedAt: number;
  /** Packs the tree at the first call; later ones give the same. */
  pack(): Promise<PackedTree>;
  readonly root: UiNode;
  /** By which the steps of the run name its screen. */
  readonly screenId: string | undefined;
}

/** The last trees of a run by their IDs, so that a tree that the automation stores need not travel a second time. */
export class RecentTrees {
  readonly #trees = new Map<number, KeptTree>();
  #lastId = 0;

  keep(tree: ScreenTree, screenId: string | undefined): number {
    const id = (this.#lastId += 1);
    this.#trees.set(id, keepTree(tree, screenId));
    this.#trees.delete(id - keptTrees);
    return id;
  }

  find(id: number): KeptTree | undefined {
    return this.#trees.get(id);
  }
}

function keepTree(tree: ScreenTree, screenId: string | undefined): KeptTree {
  let packed: Promise<PackedTree> | undefined;
  return {
    capturedAt: tree.capturedAt,
    pack: () => (packed ??= packTree(tree)),
    root: tree.root,
    screenId,
  };
}
