import { readdir } from 'node:fs/promises';
import { makeFolder } from '@phalanx/settings';

import { usageError } from '../exit-codes.ts';

/** A project's name as that of a folder here: anybody may have given it. */
export function folderName(name: string, id: string): string {
  const plain = name
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 80);
  return plain.replace(/[.-]+$/, '') || id;
}

/** Throws a usage error when it can't be made. */
export function makeNamedFolder(root: string): void {
  try {
    makeFolder(root);
  } catch {
    throw usageError(`The folder ${root} cannot be made: name another one.`);
  }
}

/** Throws a usage error when there is something in it. */
export async function makeEmptyFolder(root: string): Promise<void> {
  makeNamedFolder(root);
  if ((await readdir(root)).length === 0) return;
  throw usageError(
    `${root} is not empty: name another folder, or link this one with "phalanx project link PROJECT".`,
  );
}
