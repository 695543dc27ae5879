import type { Commit } from '@phalanx/protocol';
import type { Draft } from '../git/draft.ts';
import { requireCompiled } from '../compile/compiler.ts';
import { type GitObjects, isAncestor } from '../git/git-objects.ts';
import { listFiles } from '../git/tree-paths.ts';
import { runGit } from '../git/git-process.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import {
  type Change,
  findTreeOf,
  isDirty,
  hasSources,
  storeCompiled,
  findCompiledTree,
  keepCompiled,
  privateRefs,
} from '../projects/saved-state.ts';
import { type ProjectServices, createProjectFiles } from '../projects/project-files.ts';
import { TreeCounter } from '../git/tree-counter.ts';
import { findTotalsProblem } from '../projects/project-totals.ts';

const maxMessageBytes = 64 * 1024;

export interface CommitContent {
  readonly tree: string | undefined;
  readonly parent: string | undefined;
  readonly message: string;
  readonly author: { readonly userId: string; readonly userName: string };
  /** Epoch milliseconds. */
  readonly time: number;
}

/**
 * Returns an author name that git accepts: not empty, and without the characters that git forbids or strips at both
 * ends.
 */
function authorName({ userId, userName }: CommitContent['author']): string {
  // oxlint-disable-next-line no-control-regex
  const name = userName.toWellFormed().replaceAll(/[<>\u0000-\u001F\u007F]/g, ' ');
  return name.replaceAll(/^[.,:;"'\\\s]+|[.,:;"'\\\s]+$/g, '') || `user ${userId}`;
}

/** Stores a commit that no ref points to yet, and returns its hash. */
export function createCommit(draft: Draft, content: CommitContent): string {
  const { parent, author } = content;
  // The top-level domain ".invalid" is reserved, so no one can own the address.
  const who = `${authorName(author)} <${author.userId}@phalanx.invalid> ${Math.floor(content.time / 1000)} +0000`;
  // Stores the empty tree, because a project without files has no tree stored yet.
  const tree = content.tree ?? draft.writeTree(new Map());
  const head = [
    `tree ${tree}`,
    ...(parent === undefined ? [] : [`parent ${parent}`]),
    `author ${who}`,
    `committer ${who}`,
  ];
  // Uses the format of a commit object, as `git cat-file -p` prints it.
  return draft.writeCommit(`${head.join('\n')}\n\n${content.message}\n`);
}

interface RevertRequest extends Pick<CommitContent, 'author' | 'time'> {
  projectId: string;
  hash: string;
}

const replacedRef = (commit: string): string => `${privateRefs}/replaced/${commit}`;

/** Restores the saved files to a commit. Keeps uncommitted changes as the commit `replaced`. */
export function revertTo(
  projectServices: ProjectServices,
  request: RevertRequest,
  onReplaced: (replaced: string | null) => void,
): Promise<{ commit: Commit; replaced: string | null }> {
  const { projectId, hash } = request;
  return projectServices.repositories.write(projectId, async (draft, change) => {
    const { state } = change;
    if (!(await isKnown(draft, change, hash)))
      throw ApiError.of('commit_not_found', { hash, project_id: projectId });
    const files = await findTreeOf(draft, hash);
    await requireSize(draft, files);
    const compiled = await compiledOf(projectServices, { draft, change, projectId, files });
    const replaced = files === state.files ? null : await keepReplaced(draft, change, request);
    onReplaced(replaced);
    change.save({ files, compiled, head: state.head });
    return { commit: { hash, message: await readMessage(draft, hash) }, replaced };
  });
}

async function isKnown(repository: GitObjects, change: Change, hash: string): Promise<boolean> {
  if (!/^[0-9a-f]{40}$/.test(hash)) return false;
  if ((await change.findRef(replacedRef(hash))) !== undefined) return true;
  return isAncestor(repository, { older: hash, newer: change.state.head });
}

/** Throws `project_full` for a tree above the limits. No new push stores such a tree, but an older push may have. */
async function requireSize(repository: GitObjects, files: string | undefined): Promise<void> {
  if (files === undefined) return;
  const problem = findTotalsProblem(await new TreeCounter(repository).count(files));
  if (problem !== undefined) throw ApiError.of('project_full', { problem });
}

async function compiledOf(
  { compiler, repositories }: ProjectServices,
  {
    draft,
    change,
    projectId,
    files,
  }: { draft: Draft; change: Change; projectId: string; files: string | undefined },
): Promise<string | undefined> {
  const { state } = change;
  if (files === undefined) return undefined;
  if (files === state.files) return state.compiled;
  if (!hasSources((await listFiles(draft, files)).keys())) return undefined;
  const known = await findCompiledTree(change, files);
  if (known !== undefined) return known;
  const projectFiles = createProjectFiles(projectId, files, (work) => repositories.read(projectId, work));
  const { outputs } = requireCompiled(await compiler.compileProject(projectFiles));
  return storeCompiled(draft, outputs);
}

/**
 * Keeps the uncommitted changes as a commit on no branch, so that a revert loses nothing. Returns null if there are
 * none.
 */
async function keepReplaced(
  draft: Draft,
  change: Change,
  { author, time }: RevertRequest,
): Promise<string | null> {
  const { state } = change;
  if (!(await isDirty(draft, state))) return null;
  const message = 'Uncommitted changes that a revert replaced';
  const hash = createCommit(draft, {
    tree: state.files,
    parent: state.head,
    message,
    author,
    time,
  });
  keepCompiled(change, state);
  change.setRef(replacedRef(hash), hash);
  return hash;
}

async function readMessage(repository: GitObjects, hash: string): Promise<string> {
  const { gitDir, git } = repository;
  const { stdout } = await runGit(git, ['log', '-1', '--format=%B', hash, '--'], {
    gitDir,
    maxBytes: maxMessageBytes,
  });
  return stdout.toString().trim();
}
