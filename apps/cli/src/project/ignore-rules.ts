import { readFile } from 'node:fs/promises';
import path from 'node:path';
import ignore, { type Ignore } from 'ignore';

import { ownFolder } from './local-path.ts';

/** What no project holds, whatever its own rules say. */
const never = ['.git', ownFolder, 'node_modules'];

const mostStars = 4;

/** The rules of a folder and of those above it, as far as the project's folder. */
export interface IgnoreRules {
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
export const readIgnoreRules = (root: string): Promise<IgnoreRules> => rulesWithin(root, [], '');

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
