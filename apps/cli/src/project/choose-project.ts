import type { Command } from 'commander';
import type { Connection } from '../connection/connection.ts';
import { usageError } from '../exit-codes.ts';
import { getAutomationId } from '../launch/find-by-name.ts';
import { notice } from '../output/notice.ts';
import { defaultConfigText } from './types/write-types.ts';
import { contentVersion, readBase } from './remote-files.ts';
import { findLinkedFolder, type LinkedFolder } from './project-folder.ts';
import { listLocalFiles, LocalPathError, readLocalFile } from './local-files.ts';

/** As `chooseProject`, for what takes the files of the server: says when those of the folder are others. */
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
  let count = [...base.keys()].filter((file) => !paths.includes(file)).length;
  for (const file of paths) {
    const hash = await hashOf(root, file);
    const isOurOwn = file === 'tsconfig.json' && hash === contentVersion(defaultConfigText);
    if (hash !== base.get(file) && !isOurOwn) count += 1;
  }
  if (count === 0) return;
  const files = count === 1 ? 'One file of this folder is' : `${count} files of this folder are`;
  notice(
    `${files} not on the server as here: "phalanx project push" or "phalanx run --push" sends what was changed.`,
  );
}

const hashOf = (root: string, file: string): Promise<string | undefined> =>
  readLocalFile(root, file).then(contentVersion, (error: unknown) => {
    if (error instanceof LocalPathError) return undefined;
    throw error;
  });

export const addProjectOption = (command: Command): Command =>
  command.option('--project <project>', 'ID or name; by default the project of this folder');
