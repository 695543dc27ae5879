import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { ownFolder } from './local-path.ts';
import { matchesPath } from './wildcard.ts';

interface IgnoreRule {
  readonly pattern: readonly string[];
  readonly onlyFolders: boolean;
  readonly isException: boolean;
}

export type IsIgnored = (path: string, isFolder: boolean) => boolean;

const never = new Set(['.git', ownFolder, 'node_modules']);

function parseRule(line: string): IgnoreRule | undefined {
  const text = line.replace(/(?<!\\)\s+$/, '');
  if (text === '' || text.startsWith('#')) return undefined;
  const isException = text.startsWith('!');
  const body = (isException ? text.slice(1) : text).replace(/^\\(?=[#!])/, '');
  const onlyFolders = body.endsWith('/');
  const plain = body.replace(/\/$/, '');
  const parts = plain.replace(/^\//, '').split('/');
  // A pattern with a slash before its end counts from the top, any other at every depth.
  const pattern = plain.includes('/') ? parts : ['**', ...parts];
  return { pattern, onlyFolders, isException };
}

/** The rules of a `.gitignore` in its simple form: `*`, `?`, `**`, `/` at either end, and `!`. The last that fits counts. */
export function parseIgnoreRules(text: string): IsIgnored {
  const rules = text
    .split(/\r?\n/)
    .map(parseRule)
    .filter((rule) => rule !== undefined);
  return (file, isFolder) => {
    const names = file.split('/');
    if (never.has(names.at(-1) ?? '')) return true;
    const rule = rules.findLast(
      ({ pattern, onlyFolders }) => (isFolder || !onlyFolders) && matchesPath(pattern, names),
    );
    return rule !== undefined && !rule.isException;
  };
}

/** What the `.gitignore` at the top of a folder says. */
export async function readIgnoreRules(root: string): Promise<IsIgnored> {
  return parseIgnoreRules(await readFile(path.join(root, '.gitignore'), 'utf8').catch(() => ''));
}
