import type { GitRepository } from '../git/git-repository.ts';
import { noObject } from '../git/git-repository.ts';
import { privateRefs } from '../git/git-program.ts';
import { fileMode, folderMode, type TreeEntry } from '../git/tree.ts';

/**
 * Everything that a project is at one moment, under one ref: so one compare-and-swap changes it, and whoever
 * has read the ref once sees nothing half done. `refs/heads/main` follows `head`; see `publishHead`.
 */
export interface SavedState {
  /** The object that the ref names; `noObject` before the first write. */
  readonly id: string;
  /** The tree of the user's files, committed or not; undefined when there are none. */
  readonly files: string | undefined;
  /** The tree of what was compiled of them. It is in no commit: a clone holds sources only. */
  readonly compiled: string | undefined;
  /** The newest commit. */
  readonly head: string | undefined;
}

export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

const savedRef = `${privateRefs}/saved`;
const mainRef = 'refs/heads/main';

export async function readSavedState(repository: GitRepository): Promise<SavedState> {
  const id = await repository.findRef(savedRef);
  if (id === undefined) return { id: noObject, files: undefined, compiled: undefined, head: undefined };
  const tree = await repository.readTree(id);
  const head = tree.get('head');
  return {
    id,
    files: tree.get('files')?.id,
    compiled: tree.get('compiled')?.id,
    head: head === undefined ? undefined : (await repository.readBlob(head.id)).toString(),
  };
}

/**
 * The state was not what the writer had read. The project's lock rules that out among the writers of this process; a
 * git process that a killed server left behind may still finish its last write.
 */
export class SavedStateMoved extends Error {
  override readonly name = 'SavedStateMoved';
}

/** Durable when it resolves. Throws `SavedStateMoved`. */
export async function swapSavedState(
  repository: GitRepository,
  before: SavedState,
  next: Omit<SavedState, 'id'>,
): Promise<void> {
  const tree = new Map<string, TreeEntry>();
  if (next.files !== undefined) tree.set('files', { mode: folderMode, id: next.files });
  if (next.compiled !== undefined) tree.set('compiled', { mode: folderMode, id: next.compiled });
  if (next.head !== undefined)
    tree.set('head', { mode: fileMode, id: await repository.writeBlob(next.head) });
  const id = await repository.writeTree(tree);
  if (id === before.id) return;
  if (!(await repository.updateRef(savedRef, id, before.id)))
    throw new SavedStateMoved(`${repository.gitDir} was changed by another program`);
}

/**
 * Lets `main` follow the saved state. After a crash between the two it is behind; whoever opens the repository
 * next calls this again.
 */
export async function publishHead(repository: GitRepository): Promise<void> {
  // In this order: what is read second is never older, so that main can't be moved back.
  const main = await repository.findRef(mainRef);
  const { head } = await readSavedState(repository);
  if (head === undefined || head === main) return;
  // Somebody else may be doing the same; then it is done.
  if (!(await repository.updateRef(mainRef, head, main ?? noObject))) await publishHead(repository);
}

/** The tree of a commit's files; undefined when it has none. */
export async function findTreeOf(
  repository: GitRepository,
  commit: string | undefined,
): Promise<string | undefined> {
  if (commit === undefined) return undefined;
  const info = await repository.findInfo(`${commit}^{tree}`);
  if (info === undefined) throw new Error(`commit ${commit} is missing in ${repository.gitDir}`);
  return info.id === emptyTree ? undefined : info.id;
}

/** Whether there is something to commit. */
export async function isDirty(repository: GitRepository, state: SavedState): Promise<boolean> {
  return (await findTreeOf(repository, state.head)) !== state.files;
}
