import { lstat, mkdir, rename, writeFile, open, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';

import { maxFileBytes } from '@phalanx/protocol';
import ignore, { type Ignore } from 'ignore';

/** Folder for the CLI's own files in a project folder. */
export const ownFolder = '.phalanx';

/** Whether a file system may take a name for `.git` or `.phalanx`: letter case, trailing dots and spaces, streams. */
const isReserved = (name: string): boolean =>
  /^(?:\.git|\.phalanx|git~\d+)$/.test((name.toLowerCase().split(':', 1)[0] ?? '').replace(/[. ]+$/, ''));

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001F\u007F-\u009F]/;

/** Returns why a path from the server cannot be a file below the project's folder; undefined if it can. */
export function findPathProblem(file: string): string | undefined {
  const names = file.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..'))
    return 'its path leads outside the folder';
  if (file.includes('\\') || control.test(file) || /^[a-z]:/i.test(file))
    return 'its name is not safe on this machine';
  if (names.some(isReserved)) return 'its name is reserved';
  return undefined;
}

/** Returns the kind of an entry, without following symbolic links; `undefined` if it does not exist. */
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

/** Creates the folders that lead to `file` below `root`, never through a symbolic link. */
export async function makeFolders(root: string, file: string): Promise<void> {
  let folder = root;
  for (const name of file.split('/').slice(0, -1)) {
    folder = path.join(folder, name);
    const kind = await findKind(folder);
    if (kind === undefined) await mkdir(folder);
    else if (kind !== 'folder') throw new LocalPathError(`${folder} is in the way: it is not a folder`);
  }
}

/** Whether one of the folders that lead to `file` is a symbolic link or another entry that is not a folder. */
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

/** Error of one local file that cannot be read or written. */
export class LocalPathError extends Error {
  override readonly name = 'LocalPathError';
}

/** Writes a file below `root` atomically, and never through a symbolic link. */
export async function writeBelow(root: string, file: string, content: string | Uint8Array): Promise<void> {
  const fresh = `${ownFolder}/incoming-${randomUUID()}`;
  await makeFolders(root, fresh);
  await makeFolders(root, file);
  await writeFile(path.join(root, fresh), content, { flag: 'wx' });
  await rename(path.join(root, fresh), path.join(root, file));
}

/** Reads a file. Throws a `LocalPathError` if it cannot be read, is too large or has become a symbolic link. */
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
      throw new LocalPathError(`it has ${size} bytes, but the maximum is ${maxFileBytes}`);
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
  /** Sorted paths, with `/`. */
  readonly paths: readonly string[];
  /** Entries that are neither files nor folders, such as symbolic links: never followed, never sent. */
  readonly others: readonly string[];
}

const compiledForms: readonly (readonly [compiled: string, sources: readonly string[]])[] = [
  ['.mjs', ['.mts']],
  ['.cjs', ['.cts']],
  ['.js', ['.ts', '.tsx']],
];

/** Whether a file was compiled from one beside it, such as a `.js` from its `.ts`. The server compiles for itself. */
function isCompiled(file: string, all: ReadonlySet<string>): boolean {
  const form = compiledForms.find(([ending]) => file.endsWith(ending));
  if (form === undefined) return false;
  const stem = file.slice(0, -form[0].length);
  return form[1].some((source) => !stem.endsWith('.d') && all.has(`${stem}${source}`));
}

/** Lists the files of a project folder: those that no rule ignores, and the known ones even if a rule ignores them. */
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

/** Adds the entries of a folder and its subfolders. `folder` is `''` or ends with a slash. */
async function walk(state: Walk, folder: string, rules: IgnoreRules): Promise<void> {
  for (const entry of await readdir(path.join(state.root, folder), { withFileTypes: true })) {
    const file = `${folder}${entry.name}`;
    if (rules.ignores(entry.isDirectory() ? `${file}/` : file)) continue;
    if (entry.isDirectory()) await walk(state, `${file}/`, await rules.within(`${file}/`));
    else if (entry.isFile()) state.found.paths.add(file);
    else state.found.others.push(file);
  }
}

/** Names that are never part of a project, whatever its own rules say. */
const never = ['.git', ownFolder, 'node_modules'];

const maxStars = 4;

/** Ignore rules of a folder and of the folders above it, up to the project's folder. */
interface IgnoreRules {
  /** Whether the rules ignore a path from the project's folder. The path of a folder ends with a slash. */
  ignores(path: string): boolean;
  /** Returns the rules within `folder`, a path from the project's folder that ends with a slash. */
  within(folder: string): Promise<IgnoreRules>;
}

interface FolderRules {
  /** `''` or `flows/`. */
  readonly folder: string;
  readonly rules: Ignore;
}

/** Reads the rules of the `.gitignore` files of a project folder. Those of a nearer file take precedence. */
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

/** Whether a rule has few stars. More could take very long to match, and projects with rules may come from anyone. */
const isSimple = (line: string): boolean => (line.match(/\*+/g)?.length ?? 0) <= maxStars;

const isNever = (file: string): boolean => never.includes(file.replace(/\/$/, '').split('/').at(-1) ?? '');

function isIgnored(nearestFirst: readonly FolderRules[], file: string): boolean {
  for (const { folder, rules } of nearestFirst) {
    const { ignored, unignored } = rules.test(file.slice(folder.length));
    if (ignored || unignored) return ignored;
  }
  return false;
}
