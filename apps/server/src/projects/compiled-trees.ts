import { privateRefs } from '../git/git-program.ts';
import { noObject, type GitRepository } from '../git/git-repository.ts';
import type { SavedState } from './saved-state.ts';

/** What the files of a commit were compiled to, by the tree of these files, for the day somebody reverts to it. */
const refOf = (files: string): string => `${privateRefs}/compiled/${files}`;

export async function keepCompiled(
  repository: GitRepository,
  { files, compiled }: Pick<SavedState, 'files' | 'compiled'>,
): Promise<void> {
  if (files === undefined || compiled === undefined) return;
  const known = await repository.findRef(refOf(files));
  if (known === compiled) return;
  await repository.updateRef(refOf(files), compiled, known ?? noObject);
}

export function findCompiledTree(repository: GitRepository, files: string): Promise<string | undefined> {
  return repository.findRef(refOf(files));
}
