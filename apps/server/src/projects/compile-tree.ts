import { findCompiledPath } from '../compile/source-paths.ts';
import type { Draft } from '../git/draft.ts';
import { fileMode, type TreeEntry } from '../git/tree.ts';
import { buildTree } from '../git/tree-paths.ts';

export const hasSources = (paths: Iterable<string>): boolean =>
  Iterator.from(paths).some((path) => findCompiledPath(path) !== undefined);

/** Stores compiled texts as a tree. */
export function storeCompiled(draft: Draft, outputs: ReadonlyMap<string, string>): string | undefined {
  const entries = new Map<string, TreeEntry>();
  for (const [path, text] of outputs) entries.set(path, { mode: fileMode, id: draft.writeBlob(text) });
  return buildTree(draft, entries);
}
