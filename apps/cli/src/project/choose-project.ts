import type { Connection } from '../connection/connection.ts';
import { usageError } from '../exit-codes.ts';
import { getAutomationId } from '../launch/find-project.ts';
import { findLinkedFolder, type LinkedFolder } from './link.ts';
import { noticeUnpushed } from './notice-unpushed.ts';

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
