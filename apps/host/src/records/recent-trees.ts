import type { ScreenTree, UiNode } from '@phalanx/protocol';

import { type PackedTree, packTree } from './pack-tree.ts';

/** Waits that read the screen between a reading and its storing are common; more than a few are not. */
const keptTrees = 5;

/** A tree that this host has read. */
export interface KeptTree {
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
