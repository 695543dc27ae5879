import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { FileChange } from '@phalanx/protocol';
import { type GitObjects, isAncestor } from '../git/git-objects.ts';
import { startGit } from '../git/git-process.ts';
import { findAt, type FileDifference } from '../git/tree-paths.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { ProjectRepositories } from '../projects/repositories/project-repositories.ts';
import { findTreeOf, type SavedState } from '../projects/saved-state.ts';

/**
 * Maximum size of a file that is converted to JSON in memory. Larger files are streamed, so that no other request has
 * to wait.
 */
const maxInMemoryBytes = 512 * 1024;

interface FoundFile {
  /** Git hash of the content. */
  id: string;
  sizeBytes: number;
}

interface WantedFile {
  path: string;
  commit: string | undefined;
  tree: string | undefined;
}

/**
 * Finds a saved file, or the file in `commit`, or the file in the run's tree `tree`. Throws `file_not_found`,
 * `commit_not_found` and `tree_not_kept`.
 */
export async function getFile(
  repositories: ProjectRepositories,
  projectId: string,
  { path, commit, tree }: WantedFile,
): Promise<FoundFile> {
  const found = await repositories.read(projectId, async (repository, state) => {
    if (tree !== undefined)
      return find(repository, [await requireRunTree(repositories, repository, { tree, projectId })], path);
    if (commit === undefined) return find(repository, [state.compiled, state.files], path);
    return find(repository, [await treeOfCommit(repository, state, { commit, projectId })], path);
  });
  if (found === undefined) throw ApiError.of('file_not_found', { path, project_id: projectId });
  return found;
}

/**
 * Returns the tree if a run used it. Throws `tree_not_kept` otherwise, because files that were saved but never ran must
 * not be readable.
 */
async function requireRunTree(
  repositories: ProjectRepositories,
  repository: GitObjects,
  { tree, projectId }: { tree: string; projectId: string },
): Promise<string> {
  const hasRun = await repositories.hasRunTree(projectId, tree);
  if (!hasRun || (await repository.findInfo(tree))?.type !== 'tree')
    throw ApiError.of('tree_not_kept', { tree, project_id: projectId });
  return tree;
}

/** Returns the JSON of the reply, as a text or as a stream. Throws `file_not_text`. */
export async function readFileReply(
  repositories: ProjectRepositories,
  projectId: string,
  { path, found }: { path: string; found: FoundFile },
): Promise<string | Readable> {
  if (found.sizeBytes > maxInMemoryBytes) return streamReply(repositories, projectId, { path, found });
  const bytes = await repositories.read(projectId, (repository) => repository.readBlob(found.id));
  if (!isUtf8(bytes)) throw ApiError.of('file_not_text', { path });
  return JSON.stringify({ success: true, content: bytes.toString(), path });
}

async function find(
  repository: GitObjects,
  trees: readonly (string | undefined)[],
  path: string,
): Promise<FoundFile | undefined> {
  for (const tree of trees) {
    const found = await findAt(repository, tree, path);
    if (found.kind !== 'file') continue;
    return { id: found.entry.id, sizeBytes: (await repository.findInfo(found.entry.id))?.sizeBytes ?? 0 };
  }
  return undefined;
}

/** Reads the file twice, first to validate it, because a reply that has begun can't become an error. */
async function streamReply(
  repositories: ProjectRepositories,
  projectId: string,
  { path, found }: { path: string; found: FoundFile },
): Promise<Readable> {
  try {
    for await (const piece of streamText(repositories, projectId, found.id)) void piece;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw ApiError.of('file_not_text', { path });
  }
  return Readable.from(jsonPieces(path, streamText(repositories, projectId, found.id)));
}

async function* jsonPieces(path: string, content: AsyncIterable<string>): AsyncGenerator<string> {
  yield `{"success":true,"path":${JSON.stringify(path)},"content":"`;
  for await (const piece of content) yield JSON.stringify(piece).slice(1, -1);
  yield '"}';
}

/** Streams the text of a blob. Throws a `TypeError` for bytes that are not UTF-8. */
async function* streamText(
  repositories: ProjectRepositories,
  projectId: string,
  id: string,
): AsyncGenerator<string> {
  const { git } = repositories;
  const gitDir = repositories.gitDirOf(projectId);
  const child = await startGit(git, ['cat-file', 'blob', id], { gitDir, environment: { GIT_DIR: gitDir } });
  const [, stdout, stderr] = child.streams;
  stderr.resume();
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    for await (const chunk of stdout) {
      if (Buffer.isBuffer(chunk)) yield decoder.decode(chunk, { stream: true });
    }
    yield decoder.decode();
    const { exitCode } = await child.exited;
    if (exitCode !== 0) throw new Error(`git could not read ${id}`);
  } finally {
    child.signal('SIGKILL');
  }
}

/** Finds the tree of a commit in the history. Throws `commit_not_found`. */
export async function treeOfCommit(
  repository: GitObjects,
  { head }: SavedState,
  { commit, projectId }: { commit: string; projectId: string },
): Promise<string | undefined> {
  if (!(await isAncestor(repository, { older: commit, newer: head })))
    throw ApiError.of('commit_not_found', { hash: commit, project_id: projectId });
  return findTreeOf(repository, commit);
}

export function changeOf(difference: FileDifference | undefined): FileChange {
  if (difference === undefined) return 'unchanged';
  if (difference.before === undefined) return 'added';
  return difference.after === undefined ? 'deleted' : 'modified';
}
