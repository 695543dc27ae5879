/** The kinds of entry that a project can have: files and folders, no links, no submodules. */
export const fileMode = '100644';
export const executableMode = '100755';
export const folderMode = '40000';

export interface TreeEntry {
  readonly mode: string;
  readonly id: string;
}

/** One folder: its entries by name. */
export type Tree = ReadonlyMap<string, TreeEntry>;

export const isFolder = (entry: TreeEntry): boolean => entry.mode === folderMode;

const idLength = 20;

/** Reads git's own form of a tree. */
export function parseTree(bytes: Buffer): Tree {
  const entries = new Map<string, TreeEntry>();
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    if (space === -1 || end === -1) throw new Error('a tree is damaged');
    const mode = bytes.toString('latin1', at, space);
    const id = bytes.toString('hex', end + 1, end + 1 + idLength);
    entries.set(bytes.toString('utf8', space + 1, end), { mode, id });
    at = end + 1 + idLength;
  }
  return entries;
}

/** The input of `git mktree -z --batch`, which sorts by itself; an empty record ends the tree. */
export function formatTree(tree: Tree): string {
  let text = '';
  for (const [name, { mode, id }] of tree)
    text += `${mode} ${mode === folderMode ? 'tree' : 'blob'} ${id}\t${name}\0`;
  return `${text}\0`;
}

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
