import { findCompiledPath, listSourcePaths } from '../compile/source-paths.ts';
import type { GitObjects } from '../git/git-objects.ts';
import { maxPathDepth } from '../git/tree-counter.ts';
import { findAt } from '../git/tree-paths.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { SavedState } from '../projects/saved-state.ts';

export const maxPathBytes = 1024;
/** Maximum length of a segment on common file systems, in bytes, so that every file can be checked out. */
const maxSegmentBytes = 255;

// oxlint-disable-next-line no-control-regex
const controlCharacter = /[\u0000-\u001F\u007F-\u009F]/;

/** Returns why `name` can't be a segment of a path, as the end of a sentence that begins with the name. */
export function findSegmentProblem(name: string): string | undefined {
  // Limits the length first, because the checks below take time in proportion to it.
  if (name.length > maxSegmentBytes || Buffer.byteLength(name) > maxSegmentBytes)
    return `must not have a segment of more than ${maxSegmentBytes} bytes`;
  if (name === '') return 'has an empty segment: use single slashes, and none at either end';
  if (name === '.' || name === '..') return 'must not have "." or ".." as a segment';
  if (controlCharacter.test(name)) return 'must not contain control characters';
  if (name.includes('\\')) return 'must not contain a backslash: separate folders with "/"';
  return findReservedReason(name);
}

/** Returns why `name` can't be a folder although it can be a segment, as the end of a sentence. */
export function findFolderProblem(name: string): string | undefined {
  // Look-alikes of `.gitattributes` are already refused as segments. `git fsck` refuses no other name for folders only.
  return name === '.gitattributes'
    ? 'must not use ".gitattributes" as a folder: git reads it as a file'
    : undefined;
}

/** Returns why `path` can't be the path of a file in a project. */
export function findPathProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  // Limits the length first, because the checks below take time in proportion to it.
  if (path.length > maxPathBytes || Buffer.byteLength(path) > maxPathBytes)
    return `must not be longer than ${maxPathBytes} bytes`;
  if (!path.isWellFormed()) return 'must be valid Unicode: it contains a lone surrogate';
  if (path.startsWith('/')) return 'must be relative: it starts with "/"';
  const names = path.split('/');
  if (names.length > maxPathDepth + 1) return `must not have more than ${maxPathDepth} folders`;
  for (const [at, name] of names.entries()) {
    const isFolder = at < names.length - 1;
    const problem = findSegmentProblem(name) ?? (isFolder ? findFolderProblem(name) : undefined);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

type SavedTrees = Pick<SavedState, 'files' | 'compiled'>;

const shown = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path).toWellFormed();

/** Returns a valid path. Throws `invalid_path` for a text that can never be the path of a file. */
export function requirePath(path: string): string {
  const problem = findPathProblem(path);
  if (problem !== undefined)
    throw ApiError.of('invalid_path', { problem: `${JSON.stringify(shown(path))} ${problem}` });
  return path;
}

export const refusePath = (path: string, problem: string): ApiError =>
  ApiError.of('invalid_path', { problem: `"${shown(path)}" ${problem}` });

/** Finds the source that `path` was compiled from. */
export async function findSourceOf(
  repository: GitObjects,
  state: SavedTrees,
  path: string,
): Promise<string | undefined> {
  if ((await findAt(repository, state.compiled, path)).kind !== 'file') return undefined;
  for (const source of listSourcePaths(path))
    if ((await findAt(repository, state.files, source)).kind === 'file') return source;
  return undefined;
}

/** Throws unless a file may be written at `path` in this state of the project. */
export async function requirePlace(repository: GitObjects, state: SavedTrees, path: string): Promise<void> {
  for (const tree of [state.files, state.compiled]) {
    const found = await findAt(repository, tree, path);
    if (found.kind === 'folder') throw refusePath(path, 'is a folder: name a file in it');
    if (found.kind === 'beyond_file')
      throw refusePath(path, `uses a file as a folder: "${shown(found.file)}"`);
  }
  const source = await findSourceOf(repository, state, path);
  if (source !== undefined) throw ApiError.of('compiled_file', { path, source });
  const compiled = findCompiledPath(path);
  if (compiled !== undefined) await requireCompiledPlace(repository, state, { path, compiled });
}

async function requireCompiledPlace(
  repository: GitObjects,
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

/**
 * Names that some git version or file system treats as one of git's own: Windows ignores trailing dots and spaces and
 * everything after a colon, and has short names such as `git~1`. macOS ignores invisible characters. A clone onto such
 * a system must not turn a project's file into a part of git's folder.
 */

/** Code points that HFS+ ignores in names. */
const ignoredByHfs = /[\u200C-\u200F\u202A-\u202E\u206A-\u206F\uFEFF]/gu;

/**
 * Returns the name as seen by a file system that ignores invisible characters, a colon with everything after it, and
 * trailing dots and spaces.
 */
function plainName(name: string): string {
  const visible = name.replaceAll(ignoredByHfs, '').toLowerCase();
  return withoutEnd(visible.split(':', 1)[0] ?? '');
}

/** Removes trailing dots and spaces. A regular expression would take quadratic time. */
function withoutEnd(name: string): string {
  let end = name.length;
  while (end > 0 && '. '.includes(name.charAt(end - 1))) end -= 1;
  return name.slice(0, end);
}

/**
 * Creates a pattern for Windows short names: six letters and a number, or fewer letters of a hash and a longer number.
 */
function shortNames(beginning: string, hashed: string): RegExp {
  const ofHash = Array.from(
    { length: hashed.length + 1 },
    (_, length) => `${hashed.slice(0, length)}~[1-9]\\d{${6 - length}}`,
  );
  return new RegExp(`^(?:${beginning}~[1-4]|${ofHash.join('|')})$`);
}

const shortModules = shortNames('gitmod', 'gi7eba');
const shortAttributes = shortNames('gitatt', 'gi7d29');

/** Returns why a file or folder of a project can't have this name, as the end of a sentence. */
export function findReservedReason(name: string): string | undefined {
  const plain = plainName(name);
  if (plain === '.git' || plain === 'git~1') return 'must not lead into ".git"';
  if (plain === '.gitmodules' || shortModules.test(plain))
    return 'must not be ".gitmodules": projects have no submodules';
  const isAttributes = plain === '.gitattributes' || shortAttributes.test(plain);
  if (isAttributes && name !== '.gitattributes') return 'must not be a look-alike of ".gitattributes"';
  return undefined;
}
