import type { FileChange, FileListing } from '@phalanx/protocol';

import { findCompiledPath } from '../compile/source-paths.ts';
import type { GitObjects } from '../git/git-objects.ts';
import { listSizedFiles, type SizedFile, listDifferences, type FileDifference } from '../git/tree-paths.ts';
import { findTreeOf, type SavedState } from '../projects/saved-state.ts';
import { GitFailure, runGit } from '../git/run-git.ts';
import { fileTag, treeTag } from './file-version.ts';

const maxMatches = 1_000;
const maxMatchesPerFile = 20;
const maxLineLength = 300;
const maxBytes = 4 * 1024 * 1024;

export function changeOf(difference: FileDifference | undefined): FileChange {
  if (difference === undefined) return 'unchanged';
  if (difference.before === undefined) return 'added';
  return difference.after === undefined ? 'deleted' : 'modified';
}

/** All files in the order of their paths, with those that were deleted since the newest commit. */
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

/** All files of a commit in the order of their paths. */
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

interface Match {
  path: string;
  line: number;
  text: string;
}

/** Lines of the saved files that contain a text. Git reads them, in its own confined process. */
export async function searchFiles(
  { git, gitDir }: Pick<GitObjects, 'git' | 'gitDir'>,
  { files }: SavedState,
  text: string,
): Promise<{ matches: Match[]; truncated: boolean }> {
  if (files === undefined) return { matches: [], truncated: false };
  const how = ['-F', '-i', '-I', '-n', '--null', '--full-name', '--threads=1', `-m${maxMatchesPerFile}`];
  const { stdout, isCut } = await runGit(git, ['grep', ...how, '-e', text, files], {
    ...{ gitDir, maxBytes, timeoutMs: 20_000 },
  }).catch((error: unknown) => {
    // That is how git says that there is no match.
    if (error instanceof GitFailure && error.exitCode === 1) return { stdout: Buffer.alloc(0), isCut: false };
    throw error;
  });
  const found = readMatches(stdout.toString(), files);
  return { matches: found.slice(0, maxMatches), truncated: isCut || found.length > maxMatches };
}

/** Lines such as `tree:main.ts\0` `12\0` `const x = 1;`. */
function readMatches(output: string, treeId: string): Match[] {
  return output.split('\n').flatMap((row) => {
    const [place, line, ...rest] = row.split('\0');
    if (place === undefined || line === undefined || rest.length === 0) return [];
    const path = place.slice(treeId.length + 1);
    return [{ path, line: Number(line), text: rest.join('\0').slice(0, maxLineLength) }];
  });
}
