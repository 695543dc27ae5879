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
