import { type GitProgram, GitFailure, runGit } from './git-process.ts';

export interface ObjectInfo {
  readonly id: string;
  readonly type: string;
  readonly sizeBytes: number;
}

/** Null hash, which stands for no object in git's protocols. */
export const noObject = '0'.repeat(40);

/** Readable git objects: those of a repository, with or without the new objects of a change. */
export interface GitObjects {
  readonly git: GitProgram;
  /** Path of the repository for git commands, which see only stored objects. */
  readonly gitDir: string;
  /** Finds an object by its name, such as `<commit>^{tree}`. Validate a name from a caller before you pass it. */
  findInfo(name: string): Promise<ObjectInfo | undefined>;
  readBlob(id: string): Promise<Buffer>;
  readTree(id: string): Promise<Tree>;
}

/**
 * Whether `newer` is the commit `older` or a descendant of it. False when the repository has no commit `older`.
 * `environment`: adds the quarantine of a push to the repository.
 */
export async function isAncestor(
  repository: GitObjects,
  { older, newer }: { older: string; newer: string | undefined },
  environment: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  if (newer === undefined || (await repository.findInfo(older))?.type !== 'commit') return false;
  if (older === newer) return true;
  try {
    const args = ['merge-base', '--is-ancestor', older, newer];
    await runGit(repository.git, args, { gitDir: repository.gitDir, environment });
    return true;
  } catch (error) {
    // Exit code 1 means "no". Every other code means that git failed.
    if (error instanceof GitFailure && error.exitCode === 1) return false;
    throw error;
  }
}

/** Modes of the entries that a project can have: files and folders, no links, no submodules. */
export const fileMode = '100644';
export const executableMode = '100755';
export const folderMode = '40000';

export interface TreeEntry {
  readonly mode: string;
  readonly id: string;
}

/** Entries of one folder, by name. */
export type Tree = ReadonlyMap<string, TreeEntry>;

export const isFolder = (entry: TreeEntry): boolean => entry.mode === folderMode;

const idLength = 20;

/** Parses git's binary format of a tree. */
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

const surrogate = /[\uD800-\uDFFF]/;

/**
 * Sorts keys by their UTF-8 bytes. The key of a folder ends with a slash. Strings without surrogates already sort like
 * their UTF-8 bytes.
 */
function sortKeys(keys: string[]): string[] {
  if (!keys.some((key) => surrogate.test(key))) return keys.sort((one, other) => (one < other ? -1 : 1));
  return keys.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}

/** Serialises a tree in git's binary format. */
export function formatTree(tree: Tree): Buffer {
  const byKey = new Map(
    Array.from(tree, ([name, entry]) => [isFolder(entry) ? `${name}/` : name, { name, ...entry }]),
  );
  const pieces: Buffer[] = [];
  for (const key of sortKeys([...byKey.keys()])) {
    const { name = '', mode = '', id = '' } = byKey.get(key) ?? {};
    pieces.push(Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex'));
  }
  return Buffer.concat(pieces);
}

/** Maximum number of cached names per repository. They take a few megabytes at most. */
const maxNames = 40_000;

/** LRU cache of the trees of one repository. A tree is immutable, so an entry never becomes stale. */
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
