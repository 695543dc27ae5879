import path from 'node:path';
import { noObject, isAncestor } from '../git/git-objects.ts';
import { mainBranch } from '../git/main-branch.ts';
import { GitRepository } from '../git/git-repository.ts';
import { runGit } from '../git/git-process.ts';
import { listDifferences, listFiles } from '../git/tree-paths.ts';
import { isReviewed, maxReviewedFiles, reviewFiles } from '../files/review-file.ts';
import { hasSources, findTreeOf } from '../projects/saved-state.ts';
import { type ProjectServices, createProjectFiles } from '../projects/project-files.ts';
import {
  findNewObjectProblem,
  findSnapshotProblem,
  listNewObjects,
  type Quarantine,
} from './pushed-trees.ts';

/** Error that refuses a push. `lines` is the text for the client's terminal. */
export class PushRefused extends Error {
  override readonly name = 'PushRefused';
  readonly lines: readonly string[];

  constructor(...lines: string[]) {
    super(lines[0] ?? '');
    this.lines = lines;
  }
}

/** State of `main` once the push is accepted. */
export interface NewMain {
  readonly before: string;
  readonly commit: string;
  readonly files: string | undefined;
  readonly outputs: ReadonlyMap<string, string>;
  /** Warnings about the changed files, as writing them would report. */
  readonly warnings: readonly string[];
  /** Newest commits of the push. */
  readonly commits: readonly PushedCommit[];
}

export interface PushedCommit {
  readonly hash: string;
  readonly message: string;
}

/** Push that passed the checks. */
export interface CheckedPush {
  readonly main: NewMain | undefined;
  /** New objects of the branches and tags. */
  readonly ids: readonly string[];
}

/** Maximum number of commits of a push whose messages are read. */
const maxMessages = 1000;
const maxMessageBytes = 1024 * 1024;

export interface Push {
  projectId: string;
  refs: readonly PushedRef[];
  /** Quarantine folder, in which git holds the new objects until the push is accepted. */
  quarantinePath: string;
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new PushRefused(problem);
}

/** Checks everything about a push that does not depend on the project's current state. Throws `PushRefused`. */
export async function checkPush(projectServices: ProjectServices, push: Push): Promise<CheckedPush> {
  const { git } = projectServices.repositories;
  const gitDir = projectServices.repositories.gitDirOf(push.projectId);
  for (const ref of push.refs) refuse(findRefProblem(ref));
  const quarantine = seenWith(gitDir, push.quarantinePath);
  const repository = new GitRepository(git, gitDir, quarantine);
  try {
    const ids = await checkObjects(repository, push.refs, quarantine);
    const ref = push.refs.find(({ name }) => name === mainBranch);
    const main =
      ref &&
      (await checkMain(projectServices, repository, { main: ref, quarantine, projectId: push.projectId }));
    return { main, ids };
  } finally {
    await repository.close();
  }
}

async function checkObjects(
  repository: GitRepository,
  refs: readonly PushedRef[],
  quarantine: Quarantine,
): Promise<string[]> {
  const arriving = refs.filter((ref) => !isDeletion(ref));
  if (arriving.length === 0) return [];
  for (const { after, name } of arriving)
    if ((await repository.findInfo(`${after}^{commit}`)) === undefined) refuse(`${name} is not a commit.`);
  const tips = arriving.map(({ after }) => after);
  const ids = await listNewObjects(repository, tips, quarantine);
  refuse(await findNewObjectProblem(repository, ids));
  for (const tip of new Set(tips)) refuse(await findSnapshotProblem(repository, tip, quarantine));
  return ids;
}

/** Returns the environment in which git sees the objects of a push together with those of the repository. */
export const seenWith = (gitDir: string, quarantinePath: string): Quarantine => ({
  GIT_OBJECT_DIRECTORY: quarantinePath,
  GIT_ALTERNATE_OBJECT_DIRECTORIES: path.join(gitDir, 'objects'),
});

async function checkMain(
  projectServices: ProjectServices,
  repository: GitRepository,
  { main, quarantine, projectId }: { main: PushedRef; quarantine: Quarantine; projectId: string },
): Promise<NewMain> {
  const { before, after: commit } = main;
  if ((await repository.findInfo(commit))?.type !== 'commit') refuse('main can only be a commit.');
  const isNew = before === noObject;
  if (!isNew && !(await isAncestor(repository, { older: before, newer: commit }, quarantine)))
    refuse('main can only move forward: fetch it, put your commits on top of it, and push without force.');
  const files = await findTreeOf(repository, commit);
  const outputs = await compile(projectServices, repository, { projectId, files });
  const known = isNew ? undefined : await findTreeOf(repository, before);
  const warnings = await review(projectServices, repository, { projectId, before: known, files });
  const commits = await listMessages(repository, isNew ? commit : `${before}..${commit}`, quarantine);
  return { before, commit, files, outputs, warnings, commits };
}

async function listMessages(
  { git, gitDir }: GitRepository,
  range: string,
  environment: Quarantine,
): Promise<PushedCommit[]> {
  const args = ['log', '-z', `-n${maxMessages}`, '--format=%H%n%B', range, '--'];
  const { stdout, isCut } = await runGit(git, args, { gitDir, environment, maxBytes: maxMessageBytes });
  const entries = stdout.toString().split('\0');
  return (isCut ? entries.slice(0, -1) : entries).map((entry) => {
    const [hash = '', ...message] = entry.split('\n');
    return { hash, message: message.join('\n') };
  });
}

/** Reviews the changed files that are not compiled. */
async function review(
  projectServices: ProjectServices,
  repository: GitRepository,
  trees: { projectId: string; before: string | undefined; files: string | undefined },
): Promise<readonly string[]> {
  const { projectId, before, files } = trees;
  const projectFiles = createProjectFiles(projectId, files, (work) => work(repository));
  const differences = [...(await listDifferences(repository, before, files))];
  const changed = [];
  for (const [file, { after }] of differences
    .filter(([name]) => isReviewed(name))
    .slice(0, maxReviewedFiles)) {
    if (after === undefined) continue;
    const readText = async (): Promise<string> => (await repository.readBlob(after.id)).toString();
    const { sizeBytes = 0 } = (await repository.findInfo(after.id)) ?? {};
    changed.push({ path: file, content: { sizeBytes, readText } });
  }
  return reviewFiles(projectServices, projectFiles, changed);
}

async function compile(
  { compiler }: ProjectServices,
  repository: GitRepository,
  { projectId, files }: { projectId: string; files: string | undefined },
): Promise<ReadonlyMap<string, string>> {
  if (!hasSources((await listFiles(repository, files)).keys())) return new Map();
  const projectFiles = createProjectFiles(projectId, files, (work) => work(repository));
  const result = await compiler.compileProject(projectFiles);
  if (result.ok) return result.outputs;
  throw new PushRefused(
    'The project does not compile, so main stays as it is:',
    ...result.errors.map((line) => `  ${line}`),
    'Fix it and push again, or push to another branch.',
  );
}

/** Ref that a push wants to move. */
export interface PushedRef {
  readonly before: string;
  readonly after: string;
  readonly name: string;
}

export const isDeletion = (ref: PushedRef): boolean => ref.after === noObject;

/** Parses a line such as `<old> <new> refs/heads/main`. */
export function parsePushedRef(line: string): PushedRef {
  const [, before = '', after = '', name = ''] = /^([0-9a-f]{40}) ([0-9a-f]{40}) (\S+)/.exec(line) ?? [];
  if (name === '') throw new Error('git named no ref');
  return { before, after, name };
}

/** Matches names that git's own check refuses. Git does not check refs that the server moves itself. */
const notInName = /\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|[/.]$|[\s~^:?*[\\]/;
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0020\u007F]/;

const isRefName = (name: string): boolean => !notInName.test(name) && !controls.test(name);

/** Returns why this ref can't be pushed at all, regardless of its target. */
function findRefProblem(ref: PushedRef): string | undefined {
  if (!/^refs\/(?:heads|tags)\//.test(ref.name))
    return `${ref.name} is neither a branch nor a tag: push branches and tags only.`;
  if (!isRefName(ref.name)) return `Git does not allow the name ${ref.name}.`;
  if (ref.name === mainBranch && isDeletion(ref))
    return 'main cannot be deleted: it holds the files of the project.';
  return undefined;
}
