import { commitRoutes, type Commit, type ListedCommit, type FileDiff } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../kernel/clock.ts';
import type { Transaction } from '../../storage/db/tables/tables.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Draft } from '../git/draft.ts';
import { pageLimit } from '../../http/requests/replies/page.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { addRoute } from '../../http/requests/route.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import {
  type Change,
  isDirty,
  type SavedState,
  keepCompiled,
  emptyTree,
  findTreeOf,
} from '../projects/saved-state.ts';
import { editors, onProject, type ProjectAccess, readers } from '../projects/project-access.ts';
import type { ProjectRepositories } from '../projects/repositories/project-repositories.ts';
import type { SharedServices } from '../projects/project-files.ts';
import type { Solution, Solving } from './solving.ts';
import { type CommitContent, createCommit, revertTo } from './create-commit.ts';
import { type GitObjects, isAncestor } from '../git/git-objects.ts';
import { runGit } from '../git/git-process.ts';
import { changeOf } from '../files/read-files.ts';
import { listDifferences } from '../git/tree-paths.ts';

const maxLength = 1000;

// oxlint-disable-next-line no-control-regex
const controlCharacter = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/;

interface CommitRequest extends Pick<CommitContent, 'message' | 'author' | 'time'> {
  projectId: string;
}

interface CommitRoutesOptions {
  access: ProjectAccess;
  projectServices: SharedServices;
  clock: Clock;
  limits: Limits;
  solving: Solving;
}

/**
 * `POST /automation/commit/:id` · `GET /automation/commits/:id` · `GET /automation/diff/:id` ·
 * `POST /automation/revert/:id`
 */
export function addCommitRoutes(
  app: FastifyInstance,
  { access, projectServices, clock, limits, solving }: CommitRoutesOptions,
): void {
  const { repositories } = projectServices;
  const signature = ({ userId, userName }: Principal): Pick<CommitContent, 'author' | 'time'> => ({
    author: { userId, userName },
    time: clock.now(),
  });

  addRoute(app, commitRoutes.commit, async ({ principal, params, body, auditEvent }) => {
    const message = requireMessage(body.message);
    const project = await access.getProject(principal, params.id, editors);
    onProject(auditEvent, project);
    const request = { projectId: project.id, message, ...signature(principal) };
    const of = { principal, projectId: project.id };
    const solves = await solving.find(of, [{ hash: '', message }]);
    const commit = await commitChanges(repositories, request, {
      onMade: (hash) => auditEvent.add({ hash, ...(solves.length === 0 ? {} : { solves: idsOf(solves) }) }),
      note: (transaction, hash) =>
        solving.note(
          transaction,
          of,
          solves.map((solution) => ({ ...solution, hash })),
        ),
    });
    if (solves.length === 0) return { success: true, commit };
    await solving.mark();
    return { success: true, commit, solves: idsOf(solves) };
  });

  addRoute(app, commitRoutes.list, async ({ principal, params, query }) => {
    const { id } = await access.getProject(principal, params.id, readers);
    const wanted = { cursor: query.cursor, limit: pageLimit(query) };
    const page = await limits.turns.git.run(principal.userId, () =>
      repositories.read(id, (repository, state) => listCommits(repository, state, wanted)),
    );
    return { success: true, ...page };
  });

  addRoute(app, commitRoutes.diff, async ({ principal, params, query: { commit } }) => {
    const { id } = await access.getProject(principal, params.id, readers);
    const diff = await limits.turns.git.run(principal.userId, () =>
      repositories.read(id, (repository, state) =>
        commit === undefined ? diffSavedFiles(repository, state) : diffCommit(repository, state, commit),
      ),
    );
    if (diff === undefined) throw ApiError.of('commit_not_found', { hash: commit ?? '', project_id: id });
    return { success: true, ...diff };
  });

  addRoute(app, commitRoutes.revert, async ({ principal, params, body, auditEvent }) => {
    const project = await access.getProject(principal, params.id, editors);
    const hash = body.hash.toLowerCase();
    onProject(auditEvent, project, { hash });
    const request = { projectId: project.id, hash, ...signature(principal) };
    const onReplaced = (replaced: string | null): void => auditEvent.add({ replaced });
    const { commit, replaced } = await revertTo(
      projectServices.forUser(principal.userId),
      request,
      onReplaced,
    );
    const message = `The files were restored to commit ${commit.hash}.`;
    return { success: true, message, commit, replaced };
  });
}

const idsOf = (solutions: readonly Solution[]): string[] => solutions.map(({ groupId }) => groupId);

interface Making {
  /** Called with the hash of the commit before it is durable. */
  onMade: (hash: string) => void;
  /** Called in the transaction that stores the commit. */
  note: (transaction: Transaction, hash: string) => Promise<void>;
}

/** Commits the saved files. The commit is durable when the promise resolves. Throws `nothing_to_commit`. */
function commitChanges(
  repositories: ProjectRepositories,
  { projectId, message, author, time }: CommitRequest,
  { onMade, note }: Making,
): Promise<Commit> {
  let made = '';
  const work = async (draft: Draft, change: Change): Promise<Commit> => {
    const { state } = change;
    if (!(await isDirty(draft, state))) throw ApiError.of('nothing_to_commit', {});
    const hash = createCommit(draft, { tree: state.files, parent: state.head, message, author, time });
    made = hash;
    onMade(hash);
    keepCompiled(change, state);
    change.save({ ...state, head: hash });
    return { hash, message };
  };
  return repositories.write(projectId, work, { note: (transaction) => note(transaction, made) });
}

function findProblem(message: string): string | undefined {
  if (message === '') return 'must not be empty: say what has changed';
  const length = [...message].length;
  if (length > maxLength) return `has ${length} characters; at most ${maxLength} are allowed`;
  if (!message.isWellFormed()) return 'must be valid Unicode: it contains a lone surrogate';
  if (controlCharacter.test(message))
    return 'must not contain control characters other than line breaks and tabs';
  return undefined;
}

/** Returns the trimmed message with git's line ends (LF). Throws `invalid_request` for an invalid message. */
function requireMessage(text: string): string {
  const message = text.replaceAll(/\r\n?/g, '\n').trim();
  const problem = findProblem(message);
  if (problem !== undefined) throw ApiError.of('invalid_request', { problem: `Field message ${problem}` });
  return message;
}

const format = '%H%n%P%n%an%n%ae%n%at%n%B';

/** Maximum output of git for one page of commits, in bytes. A page with long messages ends early. */
const maxPageBytes = 1024 * 1024;

/**
 * Matches a cursor `<newest commit of the first page>.<commits already listed>`. Pages stay stable while commits are
 * added.
 */
const cursorForm = /^([0-9a-f]{40})\.(\d{1,9})$/;

interface Page {
  commits: ListedCommit[];
  next_cursor: string | null;
}

async function listCommits(
  repository: GitObjects,
  { head }: SavedState,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): Promise<Page> {
  const { start, skip } = await startOf(repository, head, cursor);
  if (start === undefined) return { commits: [], next_cursor: null };
  const args = ['log', '-z', '--topo-order', `--format=${format}`, `--skip=${skip}`, `-n${limit + 1}`];
  const { stdout, isCut } = await runGit(repository.git, [...args, start, '--'], {
    gitDir: repository.gitDir,
    maxBytes: maxPageBytes,
  });
  const records = stdout
    .toString()
    .split('\0')
    .filter((record) => record !== '');
  // Drops the last record of cut output, which may be half a commit. Shows a first commit that exceeds a page
  // truncated.
  const shown = Math.min(limit, Math.max(isCut ? records.length - 1 : records.length, 1));
  const hasMore = isCut || records.length > limit;
  return {
    commits: records.slice(0, shown).map(parseCommit),
    next_cursor: hasMore ? `${start}.${skip + shown}` : null,
  };
}

function parseCommit(record: string): ListedCommit {
  const [hash = '', parents = '', name = '', email = '', seconds = '', ...message] = record.split('\n');
  return {
    hash,
    parents: parents === '' ? [] : parents.split(' '),
    author: { name, email },
    created_at: Math.max(0, Number(seconds) * 1000),
    message: message.join('\n').trim(),
  };
}

async function startOf(
  repository: GitObjects,
  head: string | undefined,
  cursor: string | undefined,
): Promise<{ start: string | undefined; skip: number }> {
  if (cursor === undefined) return { start: head, skip: 0 };
  const [, start = '', skip = ''] = cursorForm.exec(cursor) ?? [];
  if (start === '' || !(await isAncestor(repository, { older: start, newer: head })))
    throw ApiError.of('invalid_request', {
      problem: 'Query parameter cursor is not a cursor of this list: start without a cursor',
    });
  return { start, skip: Number(skip) };
}

/** Maximum total diff text of all files, in bytes. Text beyond it is omitted. */
const maxReplyBytes = 4 * 1024 * 1024;
/** Size above which git does not compare files line by line. */
const maxFileSize = '1m';

interface Diff {
  base: string | null;
  files: FileDiff[];
  truncated: boolean;
}

/** Lists the changes between the newest commit and the saved files. */
async function diffSavedFiles(repository: GitObjects, { head, files }: SavedState): Promise<Diff> {
  return diffTrees(repository, { base: head, after: files });
}

/** Lists the changes of a commit. Undefined when the history has no such commit. */
async function diffCommit(
  repository: GitObjects,
  { head }: SavedState,
  commit: string,
): Promise<Diff | undefined> {
  if (!(await isAncestor(repository, { older: commit, newer: head }))) return undefined;
  const before = await repository.findInfo(`${commit}~1`);
  return diffTrees(repository, { base: before?.id, after: await findTreeOf(repository, commit) });
}

interface Trees {
  /** Commit before the change. */
  base: string | undefined;
  after: string | undefined;
}

async function diffTrees(repository: GitObjects, { base, after }: Trees): Promise<Diff> {
  const before = await findTreeOf(repository, base);
  const differences = await listDifferences(repository, before, after);
  if (differences.size === 0) return { base: base ?? null, files: [], truncated: false };
  const { texts, isCut } = await readTexts(repository, before ?? emptyTree, after ?? emptyTree);
  const listed = Array.from(differences, ([path, difference]) => ({
    path,
    change: changeOf(difference),
    diff: texts.get(path) ?? null,
  }));
  listed.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { base: base ?? null, files: listed, truncated: isCut };
}

async function readTexts(
  repository: GitObjects,
  before: string,
  after: string,
): Promise<{ texts: Map<string, string>; isCut: boolean }> {
  const { stdout, isCut } = await runGit(
    repository.git,
    [
      '-c',
      `core.bigFileThreshold=${maxFileSize}`,
      'diff-tree',
      '-r',
      '-z',
      '--raw',
      '-p',
      '--no-renames',
      '--no-ext-diff',
      '--no-textconv',
      before,
      after,
    ],
    { gitDir: repository.gitDir, maxBytes: maxReplyBytes, timeoutMs: 20_000 },
  );
  return { texts: splitTexts(stdout.toString(), isCut), isCut };
}

/**
 * Splits git's output: first the paths (`:modes ids status\0path\0`…), then an empty path, then the diffs in the same
 * order.
 */
function splitTexts(output: string, isCut: boolean): Map<string, string> {
  const end = output.indexOf('\0\0');
  if (end === -1) return new Map();
  const paths = output
    .slice(0, end)
    .split('\0')
    .filter((_, index) => index % 2 === 1);
  const texts = output.slice(end + 2).split(/^(?=diff --git )/m);
  // Drops the last text of cut output, which may be incomplete.
  const whole = isCut ? texts.slice(0, -1) : texts;
  const found = new Map<string, string>();
  for (const [index, text] of whole.entries()) {
    const path = paths[index];
    if (path !== undefined && !/^Binary files .* differ$/m.test(text)) found.set(path, text);
  }
  return found;
}
