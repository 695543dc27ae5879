import { type GitProgram, GitFailure, runGit } from './git-process.ts';

export interface ObjectInfo {
  readonly id: string;
  readonly type: string;
  readonly sizeBytes: number;
}

/** Name that stands for no object, as in git's own protocols. */
export const noObject = '0'.repeat(40);

/** Objects that can be read: those of a repository, alone or with those that a change adds. */
export interface GitObjects {
  readonly git: GitProgram;
  /** Path of the repository for commands of git, which see its objects alone. */
  readonly gitDir: string;
  /** Finds an object by its name, such as `<commit>^{tree}`. The name must not come from a caller unchecked. */
  findInfo(name: string): Promise<ObjectInfo | undefined>;
  readBlob(id: string): Promise<Buffer>;
  readTree(id: string): Promise<Tree>;
}

/**
 * Whether `newer` is the commit `older` or came after it; false when the repository has no commit `older`.
 * `environment`: for a repository that is seen together with the quarantine of a push.
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
    // Exit code 1 is git's "no". Every other code means that git could not tell.
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

const surrogate = /[\uD800-\uDFFF]/;

/** Sorts by bytes, a folder as if its name ended with a slash. Without surrogates, strings compare like their UTF-8. */
function sortKeys(keys: string[]): string[] {
  if (!keys.some((key) => surrogate.test(key))) return keys.sort((one, other) => (one < other ? -1 : 1));
  return keys.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}

/** Writes git's own form of a tree. */
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

/** Limit of the names that are kept for one repository: a few megabytes at most. */
const maxNames = 40_000;

/** Cache of the trees of one repository that were used last. A tree never changes, so it is never outdated. */
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
