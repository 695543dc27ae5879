import { findCompiledPath, listSourcePaths } from '../compile/source-paths.ts';
import type { GitRepository } from '../git/git-repository.ts';
import { findAt } from '../git/tree-walk.ts';
import { ApiError } from '../http/api-error.ts';
import type { SavedState } from '../projects/saved-state.ts';
import { findPathProblem } from './file-path.ts';

type SavedTrees = Pick<SavedState, 'files' | 'compiled'>;

const shown = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path).toWellFormed();

/** Throws `invalid_path` for what could never be the path of a file. */
export function requirePath(path: string): string {
  const problem = findPathProblem(path);
  if (problem !== undefined)
    throw ApiError.of('invalid_path', { problem: `${JSON.stringify(shown(path))} ${problem}` });
  return path;
}

export const refusePath = (path: string, problem: string): ApiError =>
  ApiError.of('invalid_path', { problem: `"${shown(path)}" ${problem}` });

/** The source that `path` was compiled from. */
export async function findSourceOf(
  repository: GitRepository,
  state: SavedTrees,
  path: string,
): Promise<string | undefined> {
  if ((await findAt(repository, state.compiled, path)).kind !== 'file') return undefined;
  for (const source of listSourcePaths(path))
    if ((await findAt(repository, state.files, source)).kind === 'file') return source;
  return undefined;
}

/** Throws unless a file may be written at `path` in the project as it is now. */
export async function requirePlace(
  repository: GitRepository,
  state: SavedTrees,
  path: string,
): Promise<void> {
  for (const tree of [state.files, state.compiled]) {
    const found = await findAt(repository, tree, path);
    if (found.kind === 'folder') throw refusePath(path, 'is a folder: name a file in it');
    if (found.kind === 'beyond_file') throw refusePath(path, `runs through the file "${shown(found.file)}"`);
  }
  const source = await findSourceOf(repository, state, path);
  if (source !== undefined) throw ApiError.of('compiled_file', { path, source });
  const compiled = findCompiledPath(path);
  if (compiled !== undefined) await requireCompiledPlace(repository, state, { path, compiled });
}

async function requireCompiledPlace(
  repository: GitRepository,
  state: SavedTrees,
  { path, compiled }: { path: string; compiled: string },
): Promise<void> {
  const { kind } = await findAt(repository, state.files, compiled);
  if (kind === 'folder')
    throw refusePath(path, `would be compiled to "${shown(compiled)}", which is a folder`);
  if (kind === 'file') throw ApiError.of('compiled_path_taken', { path, compiled });
  for (const other of listSourcePaths(compiled))
    if (other !== path && (await findAt(repository, state.files, other)).kind === 'file')
      throw ApiError.of('source_conflict', { path, compiled, other });
}
