import type { FastifyRequest } from 'fastify';

import type { GitObjects } from '../git/git-objects.ts';
import { findAt } from '../git/tree-paths.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { namesVersion } from '../../http/requests/replies/representations.ts';
import { emptyTree, type SavedState } from '../projects/saved-state.ts';

/** Returns the ETag of a file: the git hash of its content. */
export const fileTag = (blobId: string): string => `"${blobId}"`;

/** Returns the ETag of all saved files together: the git hash of their tree. */
export const treeTag = (treeId: string | undefined): string => `"${treeId ?? emptyTree}"`;

/** Precondition of a caller for the file's version before a change. */
export interface Precondition {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

export const preconditionOf = ({ headers }: FastifyRequest): Precondition => ({
  ifMatch: headers['if-match'],
  ifNoneMatch: headers['if-none-match'],
});

/** Throws `precondition_failed` when the file at `path` does not meet the caller's condition. */
export async function requireVersion(
  repository: GitObjects,
  { state, path, precondition }: { state: SavedState; path: string; precondition: Precondition },
): Promise<void> {
  const { ifMatch, ifNoneMatch } = precondition;
  if (ifMatch === undefined && ifNoneMatch === undefined) return;
  const found = await findAt(repository, state.files, path);
  const tag = found.kind === 'file' ? fileTag(found.entry.id) : undefined;
  const isOther = ifMatch !== undefined && !namesVersion(ifMatch, tag);
  const isSame = ifNoneMatch !== undefined && namesVersion(ifNoneMatch, tag);
  if (isOther || isSame) throw ApiError.of('precondition_failed', { path });
}

/** Throws `precondition_failed` when the saved files have changed since the caller read them. */
export function requireTree(state: SavedState, expected: string): void {
  if (treeTag(state.files) !== expected)
    throw ApiError.of('precondition_failed', { path: 'The list of files' });
}
