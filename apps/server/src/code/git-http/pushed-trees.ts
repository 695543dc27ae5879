import { maxFileBytes } from '@phalanx/protocol';
import { findCompiledPath, listSourcePaths } from '../compile/source-paths.ts';
import { findFolderProblem, findPathProblem, findSegmentProblem, maxPathBytes } from '../files/file-path.ts';
import {
  type GitObjects,
  type ObjectInfo,
  executableMode,
  fileMode,
  folderMode,
  type Tree,
} from '../git/git-objects.ts';
import { runGit } from '../git/git-process.ts';
import { listSizedFiles } from '../git/tree-paths.ts';
import { maxPathDepth, maxTreeBytes, TreeCounter } from '../git/tree-counter.ts';
import { findTotalsProblem } from '../projects/project-totals.ts';
import { foldersOf } from '../files/folders-of.ts';

/** Maximum number of new objects of a push. */
const maxNewObjects = 200_000;

/** Maximum total size of all new folders of a push. A hundred thousand typical folders have about as much. */
const maxNewTreeBytes = 64 * 1024 * 1024;

const oddModes: Record<string, string> = {
  120000: 'is a symbolic link',
  160000: 'is a submodule',
};

const shown = (name: string): string => JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name);

/** Maximum size of a commit or a tag. Fits a message of many pages. */
const maxCommitBytes = 64 * 1024;

/** Environment in which git sees the objects of a push before it is accepted. */
export type Quarantine = Readonly<Record<string, string>>;

function findEntryProblem(name: string, mode: string): string | undefined {
  const segment = name.includes('\uFFFD') ? 'must be UTF-8' : findSegmentProblem(name);
  const problem = segment ?? (mode === folderMode ? findFolderProblem(name) : undefined);
  if (problem !== undefined) return `${shown(name)} ${problem}`;
  if ([fileMode, executableMode, folderMode].includes(mode)) return undefined;
  return `${shown(name)} ${oddModes[mode] ?? `has the unsupported mode ${mode}`}: a project has files and folders only`;
}

function findTreeProblem(tree: Tree): string | undefined {
  for (const [name, { mode }] of tree) {
    const problem = findEntryProblem(name, mode);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Checks every new folder and file of a push, not only those of the newest commit, because a user may revert to any
 * commit.
 */
export async function findNewObjectProblem(
  repository: GitObjects,
  ids: readonly string[],
): Promise<string | undefined> {
  if (ids.length > maxNewObjects)
    return `The push has more than ${maxNewObjects} new objects: push in smaller steps.`;
  const infos: ObjectInfo[] = [];
  for (const id of ids) {
    const info = await repository.findInfo(id);
    if (info !== undefined) infos.push(info);
  }
  const problem =
    findFirst(infos, findSizeProblem) ??
    findTreesProblem(infos) ??
    (await findContentProblem(repository, infos));
  if (problem !== undefined) return `${problem}.`;
  const commits = infos.filter(({ type }) => type === 'commit').map(({ id }) => id);
  return findCommitProblem(repository, commits);
}

function findFirst(infos: readonly ObjectInfo[], find: (info: ObjectInfo) => string | undefined) {
  for (const info of infos) {
    const problem = find(info);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Checks the total size of all new folders. A pack of a few kilobytes can hold gigabytes of folders as deltas of each
 * other.
 */
function findTreesProblem(infos: readonly ObjectInfo[]): string | undefined {
  const trees = infos.filter(({ type }) => type === 'tree');
  const bytes = trees.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes <= maxNewTreeBytes) return undefined;
  return `The folders of all pushed commits have ${bytes} bytes together; at most ${maxNewTreeBytes} are allowed: push in smaller steps`;
}

const maxBytesOfType: Record<string, { what: string; bytes: number }> = {
  blob: { what: 'A file', bytes: maxFileBytes },
  tree: { what: 'A folder', bytes: maxTreeBytes },
  commit: { what: 'A commit', bytes: maxCommitBytes },
  tag: { what: 'A tag', bytes: maxCommitBytes },
};

/** Checks only the size, before the content of the object is read. */
function findSizeProblem({ type, sizeBytes }: ObjectInfo): string | undefined {
  const limit = maxBytesOfType[type];
  if (limit === undefined || sizeBytes <= limit.bytes) return undefined;
  return `${limit.what} has ${sizeBytes} bytes; ${limit.what.toLowerCase()} may have ${limit.bytes}`;
}

async function findContentProblem(
  repository: GitObjects,
  infos: readonly ObjectInfo[],
): Promise<string | undefined> {
  for (const { type, id } of infos) {
    const problem = type === 'tree' ? findTreeProblem(await repository.readTree(id)) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Counts the files of every new commit, not only of the newest one. */
async function findCommitProblem(
  repository: GitObjects,
  commits: readonly string[],
): Promise<string | undefined> {
  const counter = new TreeCounter(repository);
  for (const commit of commits) {
    const tree = await repository.findInfo(`${commit}^{tree}`);
    const totals = tree === undefined ? undefined : await counter.count(tree.id);
    // Counts are infinite for a tree that is nested too deeply or too large.
    if (totals !== undefined && (totals.pathBytes > maxPathBytes || totals.depth > maxPathDepth))
      return `A path must not be longer than ${maxPathBytes} bytes, nor have more than ${maxPathDepth} folders.`;
    const problem = totals && findTotalsProblem(totals);
    if (problem !== undefined) return `The project would have ${problem}.`;
  }
  return undefined;
}

/** Lists the objects that are reachable from these tips, but from no branch or tag of the project. */
export async function listNewObjects(
  repository: GitObjects,
  tips: readonly string[],
  quarantine: Quarantine,
): Promise<string[]> {
  const { stdout } = await runGit(
    repository.git,
    ['rev-list', '--objects', '--no-object-names', ...tips, '--not', '--all'],
    { gitDir: repository.gitDir, environment: quarantine, maxBytes: (maxNewObjects + 1) * 41 },
  );
  return stdout
    .toString()
    .split('\n')
    .filter((id) => id.length === 40);
}

/** Checks the files of a branch's newest commit as a whole. */
export async function findSnapshotProblem(
  repository: GitObjects,
  commit: string,
  quarantine: Quarantine,
): Promise<string | undefined> {
  const files = await listSizedFiles(repository, commit, quarantine);
  const bytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  const totals = findTotalsProblem({ files: files.length, bytes });
  if (totals !== undefined) return `The project would have ${totals}.`;
  const paths = new Set(files.map((file) => file.path));
  const folders = new Set(files.flatMap((file) => foldersOf(file.path)));
  for (const { path } of files) {
    const problem = findPathProblem(path) ?? findPairProblem(path, paths, folders);
    if (problem !== undefined) return `${shown(path)} ${problem}.`;
  }
  return undefined;
}

/** Checks that no compiled path collides with another source, or with a file or folder of the user. */
function findPairProblem(
  path: string,
  paths: ReadonlySet<string>,
  folders: ReadonlySet<string>,
): string | undefined {
  const source = listSourcePaths(path).find((one) => paths.has(one));
  if (source !== undefined)
    return `is compiled from ${shown(source)} by the service: remove it with "git rm --cached", and add it to .gitignore`;
  const compiled = findCompiledPath(path);
  if (compiled === undefined) return undefined;
  const other = listSourcePaths(compiled).find((one) => one !== path && paths.has(one));
  if (other !== undefined) return `would be compiled to ${shown(compiled)}, as ${shown(other)} is`;
  if (folders.has(compiled)) return `would be compiled to ${shown(compiled)}, which is a folder`;
  return undefined;
}
