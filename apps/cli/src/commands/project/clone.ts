import path from 'node:path';
import { projectRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import {
  addConnectionOptions,
  connect,
  type Connection,
  type ConnectionFlags,
} from '../../connection/connection.ts';
import { getAutomationId } from '../../launch/find-project.ts';
import { notice } from '../../output/notice.ts';
import { quoted } from '../../output/quoted.ts';
import { printable } from '../../output/printable.ts';
import { folderName, makeEmptyFolder } from '../../project/empty-folder.ts';
import { writeLink } from '../../project/link.ts';
import { pull } from '../../project/pull.ts';
import { writeTypes } from '../../project/types/write-types.ts';
import { printSkipped } from './print-skipped.ts';

/** `project clone` and `link` */
export function addCloneCommands(project: Command): void {
  const clone = project
    .command('clone')
    .description('make a folder with the saved files of a project')
    .argument('<project>', 'ID or name')
    .argument('[folder]', 'new or empty; by default named like the project')
    .option('--git', 'print the git command that clones its commits instead')
    .addHelpText('after', '\nExample: phalanx project clone checkout && cd checkout && code .')
    .action(cloneProject);
  const link = project
    .command('link')
    .description('link a folder with code, such as a git clone, to a project')
    .argument('<project>', 'ID or name')
    .argument('[folder]', 'by default this one', '.')
    .action(async (text: string, folder: string, flags: ConnectionFlags) => {
      const { api, serverUrl } = await connect(flags);
      const params = { id: await getAutomationId(api, text) };
      const { project: found } = await api.call(projectRoutes.get, { params });
      const root = path.resolve(folder);
      await writeLink(root, { id: found.id, server_url: serverUrl });
      await writeTypes(root);
      console.log(
        printable(`${root} is linked to "${found.name}". "phalanx project pull" and "push" compare them.`),
      );
    });
  for (const command of [clone, link]) addConnectionOptions(command);
}

async function cloneProject(
  text: string,
  folder: string | undefined,
  flags: ConnectionFlags & { git?: true },
): Promise<void> {
  const connection = await connect(flags);
  const params = { id: await getAutomationId(connection.api, text) };
  const { project } = await connection.api.call(projectRoutes.get, { params });
  const name = folder ?? folderName(project.name, project.id);
  if (flags.git) return printGitCommand(connection, project.clone_path, name);
  const root = path.resolve(name);
  await makeEmptyFolder(root);
  const link = { id: project.id, server_url: connection.serverUrl };
  await writeLink(root, link);
  const { written, skipped } = await pull(connection.api, { ...link, root }, false);
  await writeTypes(root);
  printSkipped(skipped);
  console.log(printable(`${root} has the ${written.length} files of "${project.name}".`));
}

function printGitCommand({ serverUrl }: Connection, clonePath: string, folder: string): void {
  const url = new URL(`${serverUrl}${clonePath}`);
  url.username = 'phalanx';
  console.log(`git clone ${url.href} ${quoted(folder)}`);
  notice('Git asks for a password: give your API token.');
}
