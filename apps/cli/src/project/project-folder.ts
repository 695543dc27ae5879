import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';

import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { makeFolder } from '@phalanx/settings';

import { usageError } from '../exit-codes.ts';
import { ownFolder, writeBelow } from './local-files.ts';

/** Which project a folder belongs to. It holds no token: the folder may be shared. */
export const Link = Type.Object({ id: Type.String({ minLength: 1 }), server_url: Type.String() });
export type Link = Static<typeof Link>;
const link = Compile(Link);

export interface LinkedFolder extends Link {
  readonly root: string;
}

const linkFile = `${ownFolder}/project.json`;

async function readLink(root: string): Promise<LinkedFolder | undefined> {
  const file = path.join(root, linkFile);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const value = parse(text);
  if (link.Check(value)) return { id: value.id, server_url: value.server_url, root };
  throw usageError(`${file} is damaged: link the folder again with "phalanx project link PROJECT".`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The folder or the nearest one above it that is linked to a project. */
export async function findLinkedFolder(start: string = process.cwd()): Promise<LinkedFolder | undefined> {
  for (let folder = path.resolve(start); ; folder = path.dirname(folder)) {
    const found = await readLink(folder);
    if (found !== undefined || folder === path.dirname(folder)) return found;
  }
}

export async function writeLink(root: string, { id, server_url }: Link): Promise<void> {
  await writeBelow(root, linkFile, `${JSON.stringify({ id, server_url }, null, 2)}\n`);
  // Git need not know of it, and a clone of the repository is linked anew.
  await writeBelow(root, `${ownFolder}/.gitignore`, '*\n');
}

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
