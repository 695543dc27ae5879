import { hash } from 'node:crypto';

import { findCompiledPath } from '../compile/source-paths.ts';
import type { GitRepository } from '../git/git-repository.ts';
import { fileMode, type TreeEntry } from '../git/tree.ts';
import { buildTree, listFiles } from '../git/tree-paths.ts';

export const hasSources = (paths: Iterable<string>): boolean =>
  Iterator.from(paths).some((path) => findCompiledPath(path) !== undefined);

/** The name that git gives to this content. */
function blobId(content: string): string {
  const bytes = Buffer.from(content);
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]), 'hex');
}

/** Stores compiled texts as a tree; what `before` has already is not written again. */
export async function storeCompiled(
  repository: GitRepository,
  before: string | undefined,
  outputs: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  const known = await listFiles(repository, before);
  const entries = new Map<string, TreeEntry>();
  for (const [path, text] of outputs) {
    const id = blobId(text);
    const isKnown = known.get(path)?.id === id;
    entries.set(path, { mode: fileMode, id: isKnown ? id : await repository.writeBlob(text) });
  }
  return buildTree(repository, entries);
}
