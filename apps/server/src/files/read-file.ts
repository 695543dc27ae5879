import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { type GitObjects, isAncestor } from '../git/git-objects.ts';
import { startGit } from '../git/run-git.ts';
import { findAt } from '../git/tree-paths.ts';
import { ApiError } from '../errors/api-error.ts';
import { giveWayByLength } from '../limits/priority.ts';
import type { ProjectRepositories } from '../projects/repositories/project-repositories.ts';
import { findTreeOf, type SavedState } from '../projects/saved-state.ts';

/** Larger files are sent as they are read, so that no one waits while they are put into JSON. */
const maxInMemoryBytes = 512 * 1024;

interface FoundFile {
  /** Of its content, in git. */
  id: string;
  sizeBytes: number;
}

/** `commit`: of that instead of the saved files. Throws `file_not_found` and `commit_not_found`. */
export async function getFile(
  repositories: ProjectRepositories,
  projectId: string,
  { path, commit }: { path: string; commit: string | undefined },
): Promise<FoundFile> {
  const found = await repositories.read(projectId, async (repository, state) => {
    if (commit === undefined) return find(repository, [state.compiled, state.files], path);
    return find(repository, [await treeOfCommit(repository, state, { commit, projectId })], path);
  });
  if (found === undefined) throw ApiError.of('file_not_found', { path, project_id: projectId });
  return found;
}

/** The JSON of the reply, whole or in pieces. Throws `file_not_text`. */
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

/** Reads it twice: a reply that has begun can't become an error any more. */
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

/** Throws a `TypeError` at what is not UTF-8. */
async function* streamText(
  repositories: ProjectRepositories,
  projectId: string,
  id: string,
): AsyncGenerator<string> {
  const { git } = repositories;
  const gitDir = repositories.gitDirOf(projectId);
  const child = await startGit(git, ['cat-file', 'blob', id], { gitDir, environment: { GIT_DIR: gitDir } });
  giveWayByLength(child);
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

/** The tree of a commit of the history. Throws `commit_not_found`. */
export async function treeOfCommit(
  repository: GitObjects,
  { head }: SavedState,
  { commit, projectId }: { commit: string; projectId: string },
): Promise<string | undefined> {
  if (!(await isAncestor(repository, { older: commit, newer: head })))
    throw ApiError.of('commit_not_found', { hash: commit, project_id: projectId });
  return findTreeOf(repository, commit);
}
