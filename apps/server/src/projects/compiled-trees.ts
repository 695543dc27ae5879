import { findCompiledPath } from '../compile/source-paths.ts';
import type { Draft } from '../git/draft.ts';
import { fileMode, type TreeEntry } from '../git/tree.ts';
import { buildTree } from '../git/tree-paths.ts';
import type { Change, SavedFiles } from './saved-state.ts';

/** Refs under this prefix are the service's own: clients neither see nor push them. */
export const privateRefs = 'refs/phalanx';

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

export const hasSources = (paths: Iterable<string>): boolean =>
  Iterator.from(paths).some((path) => findCompiledPath(path) !== undefined);

/** Stores compiled texts as a tree. */
export function storeCompiled(draft: Draft, outputs: ReadonlyMap<string, string>): string | undefined {
  const entries = new Map<string, TreeEntry>();
  for (const [path, text] of outputs) entries.set(path, { mode: fileMode, id: draft.writeBlob(text) });
  return buildTree(draft, entries);
}
