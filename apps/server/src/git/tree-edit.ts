import type { GitRepository } from './git-repository.ts';
import { folderMode, type Tree, type TreeEntry } from './tree.ts';

/**
 * Writes the folders from the root to `path` anew, with `entry` at its end (undefined takes it away), and returns
 * the new root: undefined when nothing is left, because git has no empty folders.
 */
export async function withEntry(
  repository: GitRepository,
  treeId: string | undefined,
  path: string,
  entry: TreeEntry | undefined,
): Promise<string | undefined> {
  const slash = path.indexOf('/');
  const name = slash === -1 ? path : path.slice(0, slash);
  const tree = new Map(treeId === undefined ? [] : await repository.readTree(treeId));
  let changed = entry;
  if (slash !== -1) {
    const below = await withEntry(repository, tree.get(name)?.id, path.slice(slash + 1), entry);
    changed = below === undefined ? undefined : { mode: folderMode, id: below };
  }
  if (changed === undefined) tree.delete(name);
  else tree.set(name, changed);
  return writeUnlessEmpty(repository, tree);
}

/** Writes the folders that hold these files, by their paths. */
export async function buildTree(
  repository: GitRepository,
  files: ReadonlyMap<string, TreeEntry>,
): Promise<string | undefined> {
  const tree = new Map<string, TreeEntry>();
  const folders = new Map<string, Map<string, TreeEntry>>();
  for (const [path, entry] of files) {
    const slash = path.indexOf('/');
    if (slash === -1) {
      tree.set(path, entry);
      continue;
    }
    const name = path.slice(0, slash);
    const folder = folders.get(name) ?? new Map<string, TreeEntry>();
    folders.set(name, folder.set(path.slice(slash + 1), entry));
  }
  for (const [name, below] of folders) {
    const id = await buildTree(repository, below);
    if (id !== undefined) tree.set(name, { mode: folderMode, id });
  }
  return writeUnlessEmpty(repository, tree);
}

async function writeUnlessEmpty(repository: GitRepository, tree: Tree): Promise<string | undefined> {
  return tree.size === 0 ? undefined : repository.writeTree(tree);
}
