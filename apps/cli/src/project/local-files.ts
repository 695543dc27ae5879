import { lstat, mkdir, rename, writeFile, open, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';

import { maxFileBytes } from '@phalanx/protocol';
import ignore, { type Ignore } from 'ignore';

/** Folder for the CLI's own files in a project folder. */
export const ownFolder = '.phalanx';

/** Names that some file system takes for `.git` or `.phalanx`: other letter case, dots and spaces at the end, streams. */
const isReserved = (name: string): boolean =>
  /^(?:\.git|\.phalanx|git~\d+)$/.test((name.toLowerCase().split(':', 1)[0] ?? '').replace(/[. ]+$/, ''));

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001F\u007F-\u009F]/;

/** Why a path that a server gave can't be a file below the project's folder here; undefined when it can. */
export function findPathProblem(file: string): string | undefined {
  const names = file.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..')) return 'it leads elsewhere';
  if (file.includes('\\') || control.test(file) || /^[a-z]:/i.test(file)) return 'its name is not safe here';
  if (names.some(isReserved)) return 'its name is reserved';
  return undefined;
}

/** A folder or file that is really there, not a symbolic link to somewhere; `undefined` when there is nothing. */
export async function findKind(absolute: string): Promise<'folder' | 'file' | 'other' | undefined> {
  const info = await lstat(absolute).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (info === undefined) return undefined;
  if (info.isDirectory()) return 'folder';
  return info.isFile() ? 'file' : 'other';
}

/** Makes the folders that lead to `file` below `root`, none of them through a symbolic link. */
export async function makeFolders(root: string, file: string): Promise<void> {
  let folder = root;
  for (const name of file.split('/').slice(0, -1)) {
    folder = path.join(folder, name);
    const kind = await findKind(folder);
    if (kind === undefined) await mkdir(folder);
    else if (kind !== 'folder') throw new LocalPathError(`${folder} is in the way: it is no folder`);
  }
}

/** Whether one of the folders that lead to `file` is a symbolic link or no folder. */
export async function isBehindLink(root: string, file: string): Promise<boolean> {
  let folder = root;
  for (const name of file.split('/').slice(0, -1)) {
    folder = path.join(folder, name);
    const kind = await findKind(folder);
    if (kind === undefined) return false;
    if (kind !== 'folder') return true;
  }
  return false;
}

/** Something on this disk is in the way of one file. */
export class LocalPathError extends Error {
  override readonly name = 'LocalPathError';
}

/** Writes a file below `root` whole or not at all, and through no symbolic link. */
export async function writeBelow(root: string, file: string, content: string | Uint8Array): Promise<void> {
  const fresh = `${ownFolder}/incoming-${randomUUID()}`;
  await makeFolders(root, fresh);
  await makeFolders(root, file);
  await writeFile(path.join(root, fresh), content, { flag: 'wx' });
  await rename(path.join(root, fresh), path.join(root, file));
}

/** The bytes of a file, which must not have become a symbolic link meanwhile. Throws a `LocalPathError`. */
export async function readLocalFile(root: string, file: string): Promise<Buffer> {
  const handle = await open(path.join(root, file), constants.O_RDONLY | constants.O_NOFOLLOW).catch(
    (error: unknown) => {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
      throw new LocalPathError(`it cannot be read (${code})`);
    },
  );
  try {
    const { size } = await handle.stat();
    if (size > maxFileBytes)
      throw new LocalPathError(`it has ${size} bytes; a file may have ${maxFileBytes}`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Decodes a file for JSON, which can carry only text. Throws a `LocalPathError`. */
export function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  throw new LocalPathError('it is not UTF-8 text: push it with git');
}

interface LocalFiles {
  /** Paths with `/`, in order. */
  readonly paths: readonly string[];
  /** Entries that are neither files nor folders, such as symbolic links: never followed, never sent. */
  readonly others: readonly string[];
}

const compiledForms: readonly (readonly [compiled: string, sources: readonly string[]])[] = [
  ['.mjs', ['.mts']],
  ['.cjs', ['.cts']],
  ['.js', ['.ts', '.tsx']],
];

/** A `.js` beside its `.ts` was compiled of it; the server compiles for itself. */
function isCompiled(file: string, all: ReadonlySet<string>): boolean {
  const form = compiledForms.find(([ending]) => file.endsWith(ending));
  if (form === undefined) return false;
  const stem = file.slice(0, -form[0].length);
  return form[1].some((source) => !stem.endsWith('.d') && all.has(`${stem}${source}`));
}

/** The files of a project folder: what nothing ignores, and what is known to belong to it whatever ignores it. */
export async function listLocalFiles(root: string, known: Iterable<string>): Promise<LocalFiles> {
  const found = { paths: new Set<string>(), others: [] as string[] };
  await walk({ root, found }, '', await readIgnoreRules(root));
  for (const file of known) {
    if (found.paths.has(file) || findPathProblem(file) !== undefined) continue;
    if (await isBehindLink(root, file)) continue;
    if ((await findKind(path.join(root, file))) === 'file') found.paths.add(file);
  }
  const paths = [...found.paths].filter((file) => !isCompiled(file, found.paths)).sort();
  return { paths, others: found.others.sort() };
}

interface Walk {
  root: string;
  found: { paths: Set<string>; others: string[] };
}

/** `folder` is `''` or ends with a slash. */
async function walk(state: Walk, folder: string, rules: IgnoreRules): Promise<void> {
  for (const entry of await readdir(path.join(state.root, folder), { withFileTypes: true })) {
    const file = `${folder}${entry.name}`;
    if (rules.ignores(entry.isDirectory() ? `${file}/` : file)) continue;
    if (entry.isDirectory()) await walk(state, `${file}/`, await rules.within(`${file}/`));
    else if (entry.isFile()) state.found.paths.add(file);
    else state.found.others.push(file);
  }
}

/** Names that no project holds, whatever its own rules say. */
const never = ['.git', ownFolder, 'node_modules'];

const maxStars = 4;

/** The rules of a folder and of those above it, as far as the project's folder. */
interface IgnoreRules {
  /** A path from the project's folder; of a folder with a slash at its end. */
  ignores(path: string): boolean;
  /** The rules within `folder`, a path from the project's folder with a slash at its end. */
  within(folder: string): Promise<IgnoreRules>;
}

interface FolderRules {
  /** `''` or `flows/`. */
  readonly folder: string;
  readonly rules: Ignore;
}

/** Rules of the `.gitignore` files of a project folder; those of a nearer file take precedence. */
const readIgnoreRules = (root: string): Promise<IgnoreRules> => rulesWithin(root, [], '');

async function rulesWithin(
  root: string,
  above: readonly FolderRules[],
  folder: string,
): Promise<IgnoreRules> {
  const text = await readFile(path.join(root, folder, '.gitignore'), 'utf8').catch(() => '');
  const nearestFirst = [{ folder, rules: ignore().add(text.split('\n').filter(isSimple)) }, ...above];
  return {
    ignores: (file) => isNever(file) || isIgnored(nearestFirst, file),
    within: (inner) => rulesWithin(root, nearestFirst, inner),
  };
}

/** More stars could take for ever to match, and the rules come with projects, which may be anybody's. */
const isSimple = (line: string): boolean => (line.match(/\*+/g)?.length ?? 0) <= maxStars;

const isNever = (file: string): boolean => never.includes(file.replace(/\/$/, '').split('/').at(-1) ?? '');

function isIgnored(nearestFirst: readonly FolderRules[], file: string): boolean {
  for (const { folder, rules } of nearestFirst) {
    const { ignored, unignored } = rules.test(file.slice(folder.length));
    if (ignored || unignored) return ignored;
  }
  return false;
}
