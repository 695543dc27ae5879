import type { Commit } from '@phalanx/protocol';

import { requireCompiled } from '../compile/compiler.ts';
import { privateRefs } from '../git/git-program.ts';
import { noObject, type GitRepository } from '../git/git-repository.ts';
import { listFiles } from '../git/tree-paths.ts';
import { isAncestor } from '../git/is-ancestor.ts';
import { runGit } from '../git/run-git.ts';
import { ApiError } from '../http/api-error.ts';
import { hasSources, storeCompiled } from '../projects/compile-tree.ts';
import { findCompiledTree, keepCompiled } from '../projects/compiled-trees.ts';
import type { ProjectDesk } from '../projects/project-desk.ts';
import { createProjectFiles } from '../projects/project-files.ts';
import { findTotalsProblem } from '../projects/project-sizes.ts';
import {
  findTreeOf,
  isDirty,
  readSavedState,
  swapSavedState,
  type SavedState,
} from '../projects/saved-state.ts';
import { TreeCounter } from '../projects/tree-totals.ts';
import { createCommit, type CommitContent } from './create-commit.ts';

interface RevertRequest extends Pick<CommitContent, 'author' | 'time'> {
  projectId: string;
  hash: string;
}

const maxMessageBytes = 64 * 1024;

const replacedRef = (commit: string): string => `${privateRefs}/replaced/${commit}`;

/** Makes the saved files those of a commit. What was not committed is kept as `replaced`. */
export function revertTo(
  desk: ProjectDesk,
  request: RevertRequest,
): Promise<{ commit: Commit; replaced: string | null }> {
  const { projectId, hash } = request;
  return desk.repositories.write(projectId, async (repository) => {
    const state = await readSavedState(repository);
    if (!(await isKnown(repository, hash, state)))
      throw ApiError.of('commit_not_found', { hash, project_id: projectId });
    const files = await findTreeOf(repository, hash);
    await requireSize(repository, files);
    const compiled = await compiledOf(desk, repository, { projectId, files, state });
    const replaced = files === state.files ? null : await keepReplaced(repository, state, request);
    await swapSavedState(repository, state, { files, compiled, head: state.head });
    return { commit: { hash, message: await readMessage(repository, hash) }, replaced };
  });
}

async function isKnown(repository: GitRepository, hash: string, state: SavedState): Promise<boolean> {
  if (!/^[0-9a-f]{40}$/.test(hash)) return false;
  if ((await repository.findRef(replacedRef(hash))) !== undefined) return true;
  return isAncestor(repository, { older: hash, newer: state.head });
}

/** No push brings more, but an older one may have. */
async function requireSize(repository: GitRepository, files: string | undefined): Promise<void> {
  if (files === undefined) return;
  const problem = findTotalsProblem(await new TreeCounter(repository).count(files));
  if (problem !== undefined) throw ApiError.of('project_full', { problem });
}

async function compiledOf(
  { compiler, repositories }: ProjectDesk,
  repository: GitRepository,
  { projectId, files, state }: { projectId: string; files: string | undefined; state: SavedState },
): Promise<string | undefined> {
  if (files === undefined) return undefined;
  if (files === state.files) return state.compiled;
  if (!hasSources((await listFiles(repository, files)).keys())) return undefined;
  const known = await findCompiledTree(repository, files);
  if (known !== undefined) return known;
  const projectFiles = createProjectFiles(projectId, files, (work) => repositories.read(projectId, work));
  const { outputs } = requireCompiled(await compiler.compileProject(projectFiles));
  return storeCompiled(repository, state.compiled, outputs);
}

/** A commit that is on no branch, so that nothing is lost by a revert. */
async function keepReplaced(
  repository: GitRepository,
  state: SavedState,
  { author, time }: RevertRequest,
): Promise<string | null> {
  if (!(await isDirty(repository, state))) return null;
  const message = 'Uncommitted changes that a revert replaced';
  const hash = await createCommit(repository, {
    tree: state.files,
    parent: state.head,
    message,
    author,
    time,
  });
  await keepCompiled(repository, state);
  const known = await repository.findRef(replacedRef(hash));
  if (known === undefined) await repository.updateRef(replacedRef(hash), hash, noObject);
  return hash;
}

async function readMessage(repository: GitRepository, hash: string): Promise<string> {
  const { gitDir, git } = repository;
  const { stdout } = await runGit(git, ['log', '-1', '--format=%B', hash, '--'], {
    gitDir,
    maxBytes: maxMessageBytes,
  });
  return stdout.toString().trim();
}
