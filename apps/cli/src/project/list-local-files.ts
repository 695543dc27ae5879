import { readdir } from 'node:fs/promises';
import path from 'node:path';

import { readIgnoreRules, type IgnoreRules } from './ignore-rules.ts';
import { findKind, findPathProblem, isBehindLink } from './local-path.ts';

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
