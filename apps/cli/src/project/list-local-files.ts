import ignore, { type Ignore } from 'ignore';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { findKind, findPathProblem, isBehindLink, ownFolder } from './local-file.ts';

export interface LocalFiles {
  /** Paths with `/`, in order. */
  readonly paths: readonly string[];
  /** What is neither a file nor a folder, such as symbolic links: never followed, never sent. */
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

/** What no project holds, whatever its own rules say. */
const never = ['.git', ownFolder, 'node_modules'];

const mostStars = 4;

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

/** What the `.gitignore` files of a project folder say; one that is nearer stands above one further up. */
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
const isSimple = (line: string): boolean => (line.match(/\*+/g)?.length ?? 0) <= mostStars;

const isNever = (file: string): boolean => never.includes(file.replace(/\/$/, '').split('/').at(-1) ?? '');

function isIgnored(nearestFirst: readonly FolderRules[], file: string): boolean {
  for (const { folder, rules } of nearestFirst) {
    const { ignored, unignored } = rules.test(file.slice(folder.length));
    if (ignored || unignored) return ignored;
  }
  return false;
}
