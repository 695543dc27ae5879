import type { Transaction } from '../db/tables/tables.ts';
import type { Draft } from '../git/draft.ts';
import { noObject, type GitObjects } from '../git/git-objects.ts';
import type { Change } from '../projects/change.ts';
import { storeCompiled } from '../projects/compile-tree.ts';
import { keepCompiled } from '../projects/compiled-trees.ts';
import type { LoggedPack, ProjectRepositories } from '../projects/repositories/project-repositories.ts';
import { isDirty, type SavedState } from '../projects/saved-state.ts';
import { PushRefused, type NewMain, type Push } from './push-check.ts';
import { isDeletion, mainBranch, type PushedRef } from './push-refs.ts';

export interface StoredPush extends Push {
  readonly main: NewMain | undefined;
  readonly packs: readonly LoggedPack[];
  /** With which version the log began when the push was looked at. */
  readonly firstVersion: number | undefined;
  /** Called in the transaction of the move. */
  readonly note: (transaction: Transaction) => Promise<void>;
}

/** All branches and tags of a push move, or none; files and compiled files move with `main`. Throws `PushRefused`. */
export function moveRefs(repositories: ProjectRepositories, push: StoredPush): Promise<void> {
  const { projectId, refs, main, packs, firstVersion, note } = push;
  const work = async (draft: Draft, change: Change): Promise<void> => {
    if ((await repositories.findFirstVersion(projectId)) !== firstVersion)
      throw new PushRefused('The project was tidied up meanwhile: push again.');
    const others = refs.filter(({ name }) => name !== mainBranch);
    for (const ref of others) await requireUnmoved(change, ref);
    requirePlaces(others, await repositories.listRefs(projectId));
    for (const ref of others) change.setRef(ref.name, isDeletion(ref) ? undefined : ref.after);
    if (main !== undefined) await moveMain(draft, change, main);
  };
  return repositories.write(projectId, work, { packs, firstVersion, note });
}

async function moveMain(draft: Draft, change: Change, main: NewMain): Promise<void> {
  await requireClean(draft, change.state, main);
  const { files, outputs, commit } = main;
  const compiled = storeCompiled(draft, outputs);
  keepCompiled(change, { files, compiled });
  change.save({ files, compiled, head: commit });
}

/** Throws `PushRefused` unless `main` is where the push takes it from, and nothing is uncommitted. */
export async function requireClean(
  repository: GitObjects,
  state: SavedState,
  { before }: NewMain,
): Promise<void> {
  if ((state.head ?? noObject) !== before)
    throw new PushRefused('main has moved meanwhile: fetch it, and push again.');
  if (await isDirty(repository, state))
    throw new PushRefused(
      'The project has uncommitted changes, which this push would mix with yours.',
      'Commit them ("phalanx project commit") and fetch, or discard them by "phalanx project revert" to the newest commit.',
    );
}

async function requireUnmoved(change: Change, { name, before }: PushedRef): Promise<void> {
  if (((await change.findRef(name)) ?? noObject) === before) return;
  throw new PushRefused(`${name} has moved meanwhile: fetch it, and push again.`);
}

/** A branch can't be a folder of others. */
function requirePlaces(pushed: readonly PushedRef[], known: readonly { name: string }[]): void {
  const gone = new Set(pushed.filter(isDeletion).map(({ name }) => name));
  const arriving = pushed.filter((ref) => !isDeletion(ref)).map(({ name }) => name);
  const names = new Set([...known.map(({ name }) => name), ...arriving, mainBranch]);
  for (const name of arriving)
    for (const folder of foldersOf(name))
      if (names.has(folder) && !gone.has(folder))
        throw new PushRefused(`${name} can't be there: ${folder} is no folder.`);
  const folders = new Set([...names].filter((name) => !gone.has(name)).flatMap(foldersOf));
  for (const name of arriving)
    if (folders.has(name)) throw new PushRefused(`${name} can't be there: it is a folder of others.`);
}

/** `a/b/c` stands in `a` and in `a/b`. */
const foldersOf = (name: string): string[] =>
  Array.from(name.matchAll(/\//g), ({ index }) => name.slice(0, index));
