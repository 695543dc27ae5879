import type { Change } from './change.ts';
import { privateRefs } from './repositories/private-refs.ts';
import type { SavedFiles } from './saved-state.ts';

/** What the files of a commit were compiled to, by the tree of these files, for the day somebody reverts to it. */
const refOf = (files: string): string => `${privateRefs}/compiled/${files}`;

export function keepCompiled(
  change: Change,
  { files, compiled }: Pick<SavedFiles, 'files' | 'compiled'>,
): void {
  if (files !== undefined && compiled !== undefined) change.setRef(refOf(files), compiled);
}

export const findCompiledTree = (change: Change, files: string): Promise<string | undefined> =>
  change.findRef(refOf(files));
