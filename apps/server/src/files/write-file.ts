import { findCompiledPath, isDeclaration } from '../compile/source-paths.ts';
import type { GitRepository } from '../git/git-repository.ts';
import { fileMode } from '../git/tree.ts';
import { withEntry } from '../git/tree-edit.ts';
import { findAt, listDifferences } from '../git/tree-walk.ts';
import { compileRefusal } from '../projects/compile-refusal.ts';
import type { ProjectDesk } from '../projects/project-desk.ts';
import { createProjectFiles } from '../projects/project-files.ts';
import { readSavedState, swapSavedState, type SavedState } from '../projects/saved-state.ts';
import { requireContent } from './check-content.ts';
import { requirePlace } from './file-place.ts';
import type { NewContent } from './new-content.ts';

export interface FileWrite {
  readonly projectId: string;
  readonly path: string;
  readonly content: NewContent;
}

interface Written {
  compiledPath: string;
  compiled: boolean;
}

/** Saves a file, and what it is compiled to, as one change. Durable when it resolves. */
export async function writeFile(desk: ProjectDesk, write: FileWrite): Promise<Written> {
  const { projectId, path, content } = write;
  await requireContent(path, content);
  // Compiling takes longer than everything else, so the first attempt does not hold up other writers.
  const seen = await desk.repositories.read(projectId, async (repository) => {
    const state = await readSavedState(repository);
    await requirePlace(repository, state, path);
    return state;
  });
  let js = await compile(desk, write, seen);
  const id = await desk.repositories.read(projectId, (repository) => content.store(repository));
  desk.repositories.noteWrite(projectId, Math.floor(content.sizeBytes / 2 ** 20));
  return desk.repositories.write(projectId, async (repository) => {
    const state = await readSavedState(repository);
    await requirePlace(repository, state, path);
    if (js !== undefined && (await mayCompileOtherwise(repository, seen, state)))
      js = await compile(desk, write, state);
    await save(desk, repository, { ...write, id, js, state });
    return { compiledPath: findCompiledPath(path) ?? path, compiled: js !== undefined };
  });
}

/** The compiled text; undefined for what is not compiled. Throws `compile_failed`. */
async function compile(
  { compiler, repositories }: ProjectDesk,
  { projectId, path, content }: FileWrite,
  state: SavedState,
): Promise<string | undefined> {
  if (findCompiledPath(path) === undefined) return undefined;
  const files = createProjectFiles(projectId, state.files, (work) => repositories.read(projectId, work));
  const result = await compiler.compileFile(files, { path, content: await content.readText() });
  if (result.ok) return result.js;
  throw compileRefusal(result.errors);
}

const isSeenByCompiler = (path: string): boolean =>
  isDeclaration(path) || /\.(?:[mc]?[jt]s|[jt]sx|json)$/.test(path);

async function mayCompileOtherwise(
  repository: GitRepository,
  seen: SavedState,
  now: SavedState,
): Promise<boolean> {
  const differences = await listDifferences(repository, seen.files, now.files);
  return differences.keys().some(isSeenByCompiler);
}

async function save(
  { totals }: ProjectDesk,
  repository: GitRepository,
  { path, content, id, js, state }: FileWrite & { id: string; js: string | undefined; state: SavedState },
): Promise<void> {
  const before = await findFile(repository, state.files, path);
  const compiledPath = js === undefined ? undefined : findCompiledPath(path);
  const replaced = compiledPath && (await findFile(repository, state.files, compiledPath));
  const next = await totals.requireRoom(repository, state.files, {
    files: (before === undefined ? 1 : 0) - (replaced ? 1 : 0),
    bytes: content.sizeBytes - (before?.sizeBytes ?? 0) - (replaced ? replaced.sizeBytes : 0),
  });
  const entry = { mode: before?.mode ?? fileMode, id };
  let files = await withEntry(repository, state.files, path, entry);
  let { compiled } = state;
  if (compiledPath !== undefined && js !== undefined) {
    if (replaced) files = await withEntry(repository, files, compiledPath, undefined);
    const output = { mode: fileMode, id: await repository.writeBlob(js) };
    compiled = await withEntry(repository, compiled, compiledPath, output);
  }
  await swapSavedState(repository, state, { files, compiled, head: state.head });
  totals.remember(files, next);
}

/** The file at `path`, with its size. */
export async function findFile(
  repository: GitRepository,
  treeId: string | undefined,
  path: string,
): Promise<{ mode: string; sizeBytes: number } | undefined> {
  const found = await findAt(repository, treeId, path);
  if (found.kind !== 'file') return undefined;
  const info = await repository.findInfo(found.entry.id);
  return { mode: found.entry.mode, sizeBytes: info?.sizeBytes ?? 0 };
}
