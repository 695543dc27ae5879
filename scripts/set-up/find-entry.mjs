import { existsSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SetUpError } from './set-up-error.mjs';

/**
 * Finds a path of the repository (`bench/main.ts`) or, for a name without folder and extension, a program of
 * node_modules/.bin.
 */
export function findEntry(root, name) {
  const isPath = /[/\\.]/.test(name);
  const entry = isPath ? resolve(root, name) : join(root, 'node_modules', '.bin', name);
  if (existsSync(entry)) return realpathSync(entry);
  throw new SetUpError(
    isPath
      ? `There is no file ${entry}. Paths are relative to the repository's root.`
      : `There is no npm program "${name}" in node_modules/.bin. Is its package in package.json?`,
  );
}
