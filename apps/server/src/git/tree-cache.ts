import type { Tree } from './tree.ts';

/** Names that are kept for one repository: a few megabytes at most. */
const maxNames = 40_000;

/** The trees of one repository that were used last; they never change, so they never have to be read again. */
export class TreeCache {
  readonly #trees = new Map<string, Tree>();
  #names = 0;

  find(id: string): Tree | undefined {
    const tree = this.#trees.get(id);
    if (tree === undefined) return undefined;
    this.#trees.delete(id);
    this.#trees.set(id, tree);
    return tree;
  }

  add(id: string, tree: Tree): void {
    if (this.#trees.has(id)) return;
    this.#trees.set(id, tree);
    this.#names += tree.size + 1;
    for (const [oldest, old] of this.#trees) {
      if (this.#names <= maxNames || oldest === id) break;
      this.#trees.delete(oldest);
      this.#names -= old.size + 1;
    }
  }
}
