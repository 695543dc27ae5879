import type { Transaction } from '../../storage/db/tables/tables.ts';
import { type GitObjects, fileMode, type TreeEntry } from '../git/git-objects.ts';
import { ObjectMissing } from '../git/git-repository.ts';
import { findCompiledPath } from '../compile/source-paths.ts';
import type { Draft } from '../git/draft.ts';
import { buildTree } from '../git/tree-paths.ts';

/** Trees of the saved files of a project, committed or not. */
export interface SavedTrees {
  /** Tree of the user's files. Undefined when there are none. */
  readonly files: string | undefined;
  /** Tree of the compiled files. No commit contains it: a clone holds sources only. */
  readonly compiled: string | undefined;
  /** Newest commit, to which the branch `main` points. */
  readonly head: string | undefined;
}

/** Complete state of a project at one moment. */
export interface SavedState extends SavedTrees {
  /** Number that grows with every change of the project, its branches and tags included. */
  readonly version: number;
}

/** Stores the effects that a change of files or commits has elsewhere. */
export type NoteSaved = (
  transaction: Transaction,
  change: { projectId: string; before: SavedTrees; saved: SavedTrees; now: number },
) => Promise<void>;

export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Finds the tree of a commit's files. Undefined when the commit has none. */
export async function findTreeOf(
  repository: GitObjects,
  commit: string | undefined,
): Promise<string | undefined> {
  if (commit === undefined) return undefined;
  const info = await repository.findInfo(`${commit}^{tree}`);
  if (info === undefined) throw new ObjectMissing(`commit ${commit} is missing in ${repository.gitDir}`);
  return info.id === emptyTree ? undefined : info.id;
}

/** Whether there is something to commit. */
export async function isDirty(repository: GitObjects, { head, files }: SavedTrees): Promise<boolean> {
  return (await findTreeOf(repository, head)) !== files;
}

/** Change of a project, stored as a whole when its work has ended. */
export class Change {
  /** State before the change. */
  readonly state: SavedState;
  readonly refs = new Map<string, string | undefined>();
  readonly #findRef: (name: string) => Promise<string | undefined>;
  #saved: SavedTrees | undefined;

  constructor(state: SavedState, findRef: (name: string) => Promise<string | undefined>) {
    this.state = state;
    this.#findRef = findRef;
  }

  get saved(): SavedTrees {
    return this.#saved ?? this.state;
  }

  get isEmpty(): boolean {
    const { files, compiled, head } = this.saved;
    const isSame = files === this.state.files && compiled === this.state.compiled && head === this.state.head;
    return isSame && this.refs.size === 0;
  }

  save(next: SavedTrees): void {
    this.#saved = next;
  }

  async findRef(name: string): Promise<string | undefined> {
    return this.refs.has(name) ? this.refs.get(name) : this.#findRef(name);
  }

  /** Sets a ref. An undefined target removes the ref. */
  setRef(name: string, target: string | undefined): void {
    this.refs.set(name, target);
  }
}

/** Prefix of the service's own refs. Clients neither see nor push them. */
export const privateRefs = 'refs/phalanx';

/** Returns the ref that keeps the compiled files of a commit for a revert, by the tree of the commit's files. */
const refOf = (files: string): string => `${privateRefs}/compiled/${files}`;

export function keepCompiled(
  change: Change,
  { files, compiled }: Pick<SavedTrees, 'files' | 'compiled'>,
): void {
  if (files !== undefined && compiled !== undefined) change.setRef(refOf(files), compiled);
}

export const findCompiledTree = (change: Change, files: string): Promise<string | undefined> =>
  change.findRef(refOf(files));

export const hasSources = (paths: Iterable<string>): boolean =>
  Iterator.from(paths).some((path) => findCompiledPath(path) !== undefined);

/** Stores compiled texts as a tree. */
export function storeCompiled(draft: Draft, outputs: ReadonlyMap<string, string>): string | undefined {
  const entries = new Map<string, TreeEntry>();
  for (const [path, text] of outputs) entries.set(path, { mode: fileMode, id: draft.writeBlob(text) });
  return buildTree(draft, entries);
}
