import type { ScreenTree, UiNode } from '@phalanx/protocol';
import { randomUUID } from 'node:crypto';

import { type PackedTree, packTree } from './record-tree.ts';

/** Maximum number of cached screens: more are rarely viewed, and a record has room for 50. */
const maxScreens = 20;
/** Maximum number of nodes per run in unpacked trees. Trees are only packed for records, so most never are. */
const maxNodes = 6000;

/**
 * Number of recent readings whose trees can be stored. Waits often read the screen between a reading and its storing.
 */
const keptTrees = 5;

/** Screen that an automation has read. */
export interface SeenScreen {
  readonly screenId: string;
  /** Time of the first reading in epoch milliseconds on the host's clock. */
  readonly capturedAt: number;
  readonly packageName: string;
  pack: () => Promise<PackedTree>;
}

interface Kept extends SeenScreen {
  /** Digest of the screen. Undefined when it can't be compared; then each reading counts as a new screen. */
  readonly digest: string | undefined;
  readonly nodes: number;
}

/** One reading of a screen. */
interface Reading {
  readonly screen: SeenScreen;
  /** Time of the reading in epoch milliseconds on the host's clock. */
  readonly capturedAt: number;
  readonly root: UiNode;
}

/** Last distinct screens that the automation of a run has read, with masks applied as the automation saw them. */
export class SeenScreens {
  #screens: Kept[] = [];
  #nodes = 0;
  /**
   * Last readings by the IDs of their trees, so that a tree that the automation stores need not be sent to the host
   * again.
   */
  readonly #trees = new Map<number, Reading>();
  #readings = 0;

  /** Number of times that the automation has read its screen. */
  get readings(): number {
    return this.#readings;
  }

  /** ID of the last screen; undefined before the first reading. */
  get currentId(): string | undefined {
    return this.#screens.at(-1)?.screenId;
  }

  /** Returns the screens, oldest first. */
  list(): readonly SeenScreen[] {
    return this.#screens;
  }

  /** Caches a tree that the automation has read. Returns the ID by which `find` returns it for a while. */
  read(tree: ScreenTree, digest: string | undefined): number {
    const id = (this.#readings += 1);
    this.#trees.set(id, { screen: this.see(tree, digest), capturedAt: tree.capturedAt, root: tree.root });
    this.#trees.delete(id - keptTrees);
    return id;
  }

  find(treeId: number): Reading | undefined {
    return this.#trees.get(treeId);
  }

  /** Returns the screen of the tree: the previous one when nothing has changed. */
  see(tree: ScreenTree, digest: string | undefined): SeenScreen {
    const last = this.#screens.at(-1);
    if (last !== undefined && digest !== undefined && last.digest === digest) return last;
    const { capturedAt, packageName } = tree;
    const about = { screenId: randomUUID(), capturedAt, packageName };
    const screen = { ...about, digest, nodes: countNodes(tree), pack: packOf(tree) };
    this.#screens.push(screen);
    this.#nodes += screen.nodes;
    while (this.#screens.length > maxScreens || (this.#nodes > maxNodes && this.#screens.length > 1))
      this.#nodes -= this.#screens.shift()?.nodes ?? 0;
    return screen;
  }

  clear(): void {
    this.#screens = [];
    this.#nodes = 0;
    this.#trees.clear();
  }
}

function packOf(tree: ScreenTree): () => Promise<PackedTree> {
  let packed: Promise<PackedTree> | undefined;
  return () => (packed ??= packTree(tree));
}

function countNodes({ root }: ScreenTree): number {
  let count = 0;
  const rest = [root];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    count += 1;
    rest.push(...node.children);
  }
  return count;
}
