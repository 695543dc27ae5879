import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';

import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { makeFolder } from '@phalanx/settings';
import type { Command } from 'commander';

import { usageError } from '../exit-codes.ts';
import { ownFolder, writeBelow, listLocalFiles, LocalPathError, readLocalFile } from './local-files.ts';
import type { Connection } from '../connection/connection.ts';
import { getAutomationId } from '../launch/find-by-name.ts';
import { notice } from '../output/terminal.ts';
import { defaultConfigText } from './types/write-types.ts';
import { contentVersion, readBase } from './remote-files.ts';

/** Project that a folder belongs to. It holds no token: the folder may be shared. */
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

/** Chooses a project for a command that uses the files on the server: says when those of the folder differ. */
export async function chooseSavedProject(
  connection: Connection,
  project: string | undefined,
): Promise<string> {
  if (project === undefined) await noticeUnpushed(await getLinkedFolder(connection));
  return chooseProject(connection, project);
}

/** The project that is named, or that of the folder. */
export async function chooseProject(connection: Connection, project: string | undefined): Promise<string> {
  if (project !== undefined) return getAutomationId(connection.api, project);
  return (await getLinkedFolder(connection)).id;
}

/** Throws a usage error unless the folder is linked to a project of this very server. */
export async function getLinkedFolder({ serverUrl }: Connection): Promise<LinkedFolder> {
  const folder = await findLinkedFolder();
  if (folder === undefined)
    throw usageError(
      'This folder belongs to no project: "phalanx project clone PROJECT" makes one that does, "phalanx project link PROJECT" links it.',
    );
  if (folder.server_url === serverUrl) return folder;
  throw usageError(
    `The project of ${folder.root} is on ${folder.server_url}, but the server is ${serverUrl}: give --server-url, or link the folder again.`,
  );
}

/** Tells people that what they are about to run or to commit is not what they see in their folder. */
async function noticeUnpushed({ root }: LinkedFolder): Promise<void> {
  const base = await readBase(root);
  const { paths } = await listLocalFiles(root, base.keys());
  const changed = [...base.keys()].filter((file) => !paths.includes(file));
  for (const file of paths) {
    const hash = await hashOf(root, file);
    const isOurOwn = file === 'tsconfig.json' && hash === contentVersion(defaultConfigText);
    if (hash !== base.get(file) && !isOurOwn) changed.push(file);
  }
  if (changed.length === 0) return;
  notice(
    `${listOf(changed)} not on the server as here: "phalanx project push" or "phalanx run --push" sends what was changed.`,
  );
}

const maxNamed = 3;

/** Names up to three files, with the verb: `main.ts is`, or `a.ts, b.ts, c.ts and 2 more files are`. */
function listOf(files: readonly string[]): string {
  const named = files.slice(0, maxNamed).join(', ');
  const more = files.length - maxNamed;
  if (more > 0) return `${named} and ${more} more ${more === 1 ? 'file' : 'files'} are`;
  return `${named} ${files.length === 1 ? 'is' : 'are'}`;
}

const hashOf = (root: string, file: string): Promise<string | undefined> =>
  readLocalFile(root, file).then(contentVersion, (error: unknown) => {
    if (error instanceof LocalPathError) return undefined;
    throw error;
  });

export const addProjectOption = (command: Command): Command =>
  command.option('--project <project>', 'ID or name; by default the project of this folder');
