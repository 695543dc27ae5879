import type { Draft } from './draft.ts';
import { type GitObjects, folderMode, isFolder, type Tree, type TreeEntry } from './git-objects.ts';
import { runGit } from './git-process.ts';

/** Result of a path lookup: a file, a folder, nothing, or nothing because the path runs through a file. */
type Found =
  | { kind: 'file'; entry: TreeEntry }
  | { kind: 'folder' }
  | { kind: 'nothing' }
  | { kind: 'beyond_file'; file: string };

/** Finds the entry at a path. An undefined `treeId` stands for an empty folder, here and in the functions below. */
export async function findAt(
  repository: GitObjects,
  treeId: string | undefined,
  path: string,
): Promise<Found> {
  const segments = path.split('/');
  let folder = treeId;
  for (const [index, name] of segments.entries()) {
    const entry = folder === undefined ? undefined : (await repository.readTree(folder)).get(name);
    if (entry === undefined) return { kind: 'nothing' };
    const isLast = index === segments.length - 1;
    if (!isFolder(entry)) {
      if (isLast) return { kind: 'file', entry };
      return { kind: 'beyond_file', file: segments.slice(0, index + 1).join('/') };
    }
    folder = entry.id;
  }
  return { kind: 'folder' };
}

/** Lists every file below a tree, by its path. */
export async function listFiles(
  repository: GitObjects,
  treeId: string | undefined,
  prefix = '',
): Promise<Map<string, TreeEntry>> {
  const files = new Map<string, TreeEntry>();
  if (treeId === undefined) return files;
  for (const [name, entry] of await repository.readTree(treeId)) {
    if (!isFolder(entry)) files.set(prefix + name, entry);
    else
      for (const [path, below] of await listFiles(repository, entry.id, `${prefix}${name}/`))
        files.set(path, below);
  }
  return files;
}

export interface FileDifference {
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
}

/** Lists the files that differ between two trees. Does not read identical folders. */
export async function listDifferences(
  repository: GitObjects,
  beforeId: string | undefined,
  afterId: string | undefined,
  prefix = '',
): Promise<Map<string, FileDifference>> {
  const differences = new Map<string, FileDifference>();
  if (beforeId === afterId) return differences;
  const before = beforeId === undefined ? new Map<string, TreeEntry>() : await repository.readTree(beforeId);
  const after = afterId === undefined ? new Map<string, TreeEntry>() : await repository.readTree(afterId);
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const sides = [before.get(name), after.get(name)] as const;
    if (sides[0]?.id === sides[1]?.id && sides[0]?.mode === sides[1]?.mode) continue;
    const [was, is] = sides.map((entry) => (entry !== undefined && isFolder(entry) ? undefined : entry));
    if (was !== undefined || is !== undefined) differences.set(prefix + name, { before: was, after: is });
    const [from, to] = sides.map((entry) => (entry !== undefined && isFolder(entry) ? entry.id : undefined));
    for (const [path, below] of await listDifferences(repository, from, to, `${prefix}${name}/`))
      differences.set(path, below);
  }
  return differences;
}

/**
 * Rewrites the folders from the root to `path` with `entry` at `path` (undefined removes it). Returns the new root, or
 * undefined when nothing is left, because git has no empty folders.
 */
export async function withEntry(
  draft: Draft,
  treeId: string | undefined,
  path: string,
  entry: TreeEntry | undefined,
): Promise<string | undefined> {
  const slash = path.indexOf('/');
  const name = slash === -1 ? path : path.slice(0, slash);
  const tree = new Map(treeId === undefined ? [] : await draft.readTree(treeId));
  let changed = entry;
  if (slash !== -1) {
    const below = await withEntry(draft, tree.get(name)?.id, path.slice(slash + 1), entry);
    changed = below === undefined ? undefined : { mode: folderMode, id: below };
  }
  if (changed === undefined) tree.delete(name);
  else tree.set(name, changed);
  return writeUnlessEmpty(draft, tree);
}

/** Writes the folders of these files, given by path. Returns the root, or undefined when there are no files. */
export function buildTree(draft: Draft, files: ReadonlyMap<string, TreeEntry>): string | undefined {
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
    const id = buildTree(draft, below);
    if (id !== undefined) tree.set(name, { mode: folderMode, id });
  }
  return writeUnlessEmpty(draft, tree);
}

function writeUnlessEmpty(draft: Draft, tree: Tree): string | undefined {
  return tree.size === 0 ? undefined : draft.writeTree(tree);
}

export interface SizedFile {
  readonly mode: string;
  readonly path: string;
  readonly id: string;
  /** Size of the file. 0 for an entry that is not a file of this repository, such as a submodule. */
  readonly sizeBytes: number;
}

function parseLine(line: string): SizedFile {
  const tab = line.indexOf('\t');
  const [mode = '', , id = '', size = ''] = line.slice(0, tab).split(/ +/);
  return { mode, id, sizeBytes: Number(size) || 0, path: line.slice(tab + 1) };
}

/** Lists every file below a tree, with its size. `environment`: adds the quarantine of a push to the repository. */
export async function listSizedFiles(
  repository: Pick<GitObjects, 'git' | 'gitDir'>,
  treeId: string | undefined,
  environment: Readonly<Record<string, string>> = {},
): Promise<SizedFile[]> {
  if (treeId === undefined) return [];
  const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', treeId];
  const { stdout } = await runGit(repository.git, args, { gitDir: repository.gitDir, environment });
  return stdout.toString().split('\0').slice(0, -1).map(parseLine);
}
