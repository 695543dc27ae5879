import type { FileChange, FileListing } from '@phalanx/protocol';
import type { GitObjects } from '../git/git-objects.ts';
import { listSizedFiles, type SizedFile, listDifferences } from '../git/tree-paths.ts';
import { findTreeOf, type SavedState } from '../projects/saved-state.ts';
import { findCompiledPath } from '../compile/source-paths.ts';
import { fileTag, treeTag } from './file-version.ts';
import { changeOf } from './read-files.ts';

/** Lists all files, sorted by path, including those deleted since the newest commit. */
export async function listProjectFiles(
  repository: GitObjects,
  state: SavedState,
): Promise<{ files: FileListing[]; dirty: boolean; etag: string }> {
  const differences = await listDifferences(
    repository,
    await findTreeOf(repository, state.head),
    state.files,
  );
  const files = (await listSizedFiles(repository, state.files)).map((file) =>
    listing(file, changeOf(differences.get(file.path))),
  );
  for (const [path, difference] of differences) {
    if (difference.after !== undefined || difference.before === undefined) continue;
    const { id } = difference.before;
    const info = await repository.findInfo(id);
    files.push(listing({ path, id, sizeBytes: info?.sizeBytes ?? 0 }, 'deleted'));
  }
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { files, dirty: differences.size > 0, etag: treeTag(state.files) };
}

/** Lists all files of a commit, sorted by path. */
export async function listCommitFiles(
  repository: GitObjects,
  tree: string | undefined,
): Promise<{ files: FileListing[]; dirty: boolean; etag: string }> {
  const files = (await listSizedFiles(repository, tree)).map((file) => listing(file, 'unchanged'));
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { files, dirty: false, etag: treeTag(tree) };
}

const listing = (
  { path, id, sizeBytes }: Pick<SizedFile, 'path' | 'id' | 'sizeBytes'>,
  change: FileChange,
): FileListing => ({
  path,
  size: sizeBytes,
  etag: fileTag(id),
  change,
  compiled_path: findCompiledPath(path) ?? path,
});
