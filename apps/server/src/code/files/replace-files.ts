import { requireCompiled } from '../compile/compiler.ts';
import { findCompiledPath, listSourcePaths } from '../compile/source-paths.ts';
import { Draft, NewObjects } from '../git/draft.ts';
import { type GitObjects, fileMode, type TreeEntry } from '../git/git-objects.ts';
import { listSizedFiles, type SizedFile, buildTree } from '../git/tree-paths.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { hasSources, storeCompiled, type Change, type SavedState } from '../projects/saved-state.ts';
import { type ProjectServices, createProjectFiles, type SavedFiles } from '../projects/project-files.ts';
import { type NewContent, requireContent } from './new-content.ts';
import { findSourceOf, refusePath, requirePlace } from './file-path.ts';
import { requireTree, treeTag } from './file-version.ts';
import { mayCompileOtherwise, reviewFiles } from './review-file.ts';
import { foldersOf } from './folders-of.ts';

/** Files with new content, and files to delete. */
export interface TreeChange {
  readonly projectId: string;
  readonly files: readonly { path: string; content: NewContent }[];
  readonly deleted: readonly string[];
}

interface CheckedChange extends TreeChange {
  /** ETag that the tree must have before the change. */
  readonly expected: string;
}

type Entries = Map<string, TreeEntry>;

/** Tree that is not stored yet. */
export interface NextTree {
  readonly id: string | undefined;
  readonly entries: Entries;
  /** Objects of the tree that are not stored yet. */
  readonly objects: NewObjects;
  /** Whether the compiled files may be out of date. */
  readonly isToCompile: boolean;
  readonly totals: { files: number; bytes: number };
}

/** Saves all changes or none, and compiles the project as a whole. The change is durable when the promise resolves. */
export async function replaceFiles(
  projectServices: ProjectServices,
  { expected, ...change }: CheckedChange,
): Promise<{ etag: string; warnings: string[] }> {
  const { projectId, files } = change;
  await requireChange(change);
  await projectServices.sizes.add(
    projectId,
    files.reduce((sum, { content }) => sum + content.sizeBytes, 0),
  );
  const next = await projectServices.repositories.read(projectId, (repository, state) => {
    requireTree(state, expected);
    return buildNext(projectServices, { repository, state, change });
  });
  const { outputs, warnings } = await compile(projectServices, change, next);
  const swap = async (draft: Draft, project: Change): Promise<void> => {
    const { state } = project;
    // Requires the same tree again, because all checks so far apply to it only.
    requireTree(state, expected);
    const compiled = outputs === undefined ? state.compiled : storeCompiled(draft, outputs);
    project.save({ files: next.id, compiled, head: state.head });
  };
  await projectServices.repositories.write(projectId, swap, next);
  projectServices.totals.remember(next.id, next.totals);
  return { etag: treeTag(next.id), warnings };
}

/** Throws for a change that is invalid regardless of the project's files. */
export async function requireChange({ files, deleted }: TreeChange): Promise<void> {
  const seen = new Set<string>();
  for (const path of [...files.map((file) => file.path), ...deleted]) {
    if (seen.has(path)) throw refusePath(path, 'is named twice');
    seen.add(path);
  }
  for (const { path, content } of files) await requireContent(path, content);
}

/** Applies a change to the files of a state, by the rules of single writes. Stores nothing in the repository. */
export async function buildNext(
  projectServices: Pick<ProjectServices, 'totals'>,
  { repository, state, change }: { repository: GitObjects; state: SavedState; change: TreeChange },
): Promise<NextTree> {
  const before = new Map((await listSizedFiles(repository, state.files)).map((file) => [file.path, file]));
  for (const path of change.deleted) {
    const source = await findSourceOf(repository, state, path);
    if (source !== undefined) throw ApiError.of('compiled_file', { path, source });
    if (!before.has(path)) throw ApiError.of('file_not_found', { path, project_id: change.projectId });
  }
  const totals = await projectServices.totals.requireRoom(repository, state.files, growthOf(change, before));
  const objects = new NewObjects();
  const draft = new Draft(repository, objects);
  const entries = await storeEntries(objects, { change, before });
  const id = buildTree(draft, entries);
  await requirePlaces(repository, { files: id, entries, changed: change.files, objects });
  const isToCompile = await mayCompileOtherwise(draft, state.files, id);
  return { id, entries, objects, totals, isToCompile };
}

function growthOf(
  { files, deleted }: TreeChange,
  before: ReadonlyMap<string, SizedFile>,
): { files: number; bytes: number } {
  const sizeOf = (path: string): number => before.get(path)?.sizeBytes ?? 0;
  const added = files.reduce((sum, { path, content }) => sum + content.sizeBytes - sizeOf(path), 0);
  return {
    files: files.filter(({ path }) => !before.has(path)).length - deleted.length,
    bytes: deleted.reduce((sum, path) => sum - sizeOf(path), added),
  };
}

/** Lists all files after the change. Adds the new contents to `objects`. */
async function storeEntries(
  objects: NewObjects,
  { change, before }: { change: TreeChange; before: ReadonlyMap<string, SizedFile> },
): Promise<Entries> {
  const entries: Entries = new Map(Array.from(before, ([path, { mode, id }]) => [path, { mode, id }]));
  for (const path of change.deleted) entries.delete(path);
  for (const { path, content } of change.files) {
    const id = await content.store(objects);
    entries.set(path, { mode: before.get(path)?.mode ?? fileMode, id });
  }
  return entries;
}

/** Applies the rules of single writes to the tree after the change. */
async function requirePlaces(
  repository: GitObjects,
  {
    files,
    entries,
    changed,
    objects,
  }: {
    files: string | undefined;
    entries: Entries;
    changed: TreeChange['files'];
    objects: NewObjects;
  },
): Promise<void> {
  // Reserves the paths of the compiled files. Their content does not matter.
  const places = Array.from(entries, ([path, entry]) => [findCompiledPath(path), entry] as const);
  const known = places.filter((place): place is [string, TreeEntry] => place[0] !== undefined);
  const draft = new Draft(repository, new NewObjects(objects));
  const compiled = buildTree(draft, new Map(known));
  for (const { path } of changed) {
    const file = foldersOf(path).find((folder) => isFile(entries, folder));
    if (file !== undefined) throw refusePath(path, `uses a file as a folder: "${file}"`);
    await requirePlace(draft, { files, compiled }, path);
  }
}

/** Whether a path is a file of the user, or compiled from one. */
const isFile = (entries: Entries, path: string): boolean =>
  [path, ...listSourcePaths(path)].some((one) => entries.has(one));

/** Compiles the project if needed. Throws `compile_failed`. */
async function compile(
  projectServices: ProjectServices,
  { projectId, files }: TreeChange,
  { isToCompile, ...tree }: NextTree,
): Promise<{ outputs: ReadonlyMap<string, string> | undefined; warnings: string[] }> {
  if (!isToCompile) return { outputs: undefined, warnings: [] };
  const next = filesOfNext(projectServices, projectId, tree);
  const outputs = hasSources(tree.entries.keys())
    ? requireCompiled(await projectServices.compiler.compileProject(next)).outputs
    : new Map<string, string>();
  return { outputs, warnings: await reviewFiles(projectServices, next, files) };
}

/** Returns the files of a tree that is not stored yet. */
export const filesOfNext = (
  { repositories }: Pick<ProjectServices, 'repositories'>,
  projectId: string,
  { id, objects }: Pick<NextTree, 'id' | 'objects'>,
): SavedFiles =>
  createProjectFiles(projectId, id, (work) =>
    repositories.read(projectId, (repository) => work(new Draft(repository, objects))),
  );
