import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';

import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { makeFolder } from '@phalanx/settings';
import type { Command, OptionValues } from '@commander-js/extra-typings';

import { usageError } from '../exit-codes.ts';
import { ownFolder, writeBelow, listLocalFiles, LocalPathError, readLocalFile } from './local-files.ts';
import type { Connection } from '../connection/connection.ts';
import { getAutomationId } from '../launch/find-by-name.ts';
import { notice } from '../output/terminal.ts';
import { defaultConfigText } from './types/write-types.ts';
import { contentVersion, readBase } from './remote-files.ts';

/** Project that a folder belongs to. It contains no token, because the folder may be shared. */
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

/** Returns the nearest folder that is linked to a project: `start` or one above it. */
export async function findLinkedFolder(start: string = process.cwd()): Promise<LinkedFolder | undefined> {
  for (let folder = path.resolve(start); ; folder = path.dirname(folder)) {
    const found = await readLink(folder);
    if (found !== undefined || folder === path.dirname(folder)) return found;
  }
}

export async function writeLink(root: string, { id, server_url }: Link): Promise<void> {
  await writeBelow(root, linkFile, `${JSON.stringify({ id, server_url }, null, 2)}\n`);
  // Keeps the link out of git: each clone of the repository is linked separately.
  await writeBelow(root, `${ownFolder}/.gitignore`, '*\n');
}

/** Makes a safe folder name from a project's name, which anyone may have chosen. */
export function folderName(name: string, id: string): string {
  const plain = name
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 80);
  return plain.replace(/[.-]+$/, '') || id;
}

/** Creates a folder. Throws a usage error if that fails. */
export function makeNamedFolder(root: string): void {
  try {
    makeFolder(root);
  } catch {
    throw usageError(`The folder ${root} cannot be created: choose another one.`);
  }
}

/** Creates a folder. Throws a usage error if it exists and is not empty. */
export async function makeEmptyFolder(root: string): Promise<void> {
  makeNamedFolder(root);
  if ((await readdir(root)).length === 0) return;
  throw usageError(
    `${root} is not empty: choose another folder, or link this one with "phalanx project link PROJECT".`,
  );
}

/** Chooses a project for a command that uses the server's files. Prints a notice if the folder's files differ. */
export async function chooseSavedProject(
  connection: Connection,
  project: string | undefined,
): Promise<string> {
  if (project === undefined) await noticeUnpushed(await getLinkedFolder(connection));
  return chooseProject(connection, project);
}

/** Returns the ID of the named project, or of the folder's project. */
export async function chooseProject(connection: Connection, project: string | undefined): Promise<string> {
  if (project !== undefined) return getAutomationId(connection.api, project);
  return (await getLinkedFolder(connection)).id;
}

/** Returns the linked folder. Throws a usage error unless it is linked to a project on this server. */
export async function getLinkedFolder({ serverUrl }: Connection): Promise<LinkedFolder> {
  const folder = await findLinkedFolder();
  if (folder === undefined)
    throw usageError(
      'This folder belongs to no project: link it with "phalanx project link PROJECT", or get a new one with "phalanx project clone PROJECT".',
    );
  if (folder.server_url === serverUrl) return folder;
  throw usageError(
    `The project of ${folder.root} is on ${folder.server_url}, but the server is ${serverUrl}: pass --server-url, or link the folder again.`,
  );
}

/** Prints a notice if the saved files, which the command is about to run or commit, differ from the folder. */
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
    `${listOf(changed)} not up to date on the server: "phalanx project push" or "phalanx run --push" saves your changes.`,
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

export const addProjectOption = <Args extends unknown[], Flags extends OptionValues>(
  command: Command<Args, Flags>,
) => command.option('--project <project>', 'ID or name; default: the project of this folder');
