import { type MemberRole, memberRoles, projectRoutes } from '@phalanx/protocol';
import { type Command, Option } from 'commander';
import path from 'node:path';

import {
  addConnectionOptions,
  connect,
  type ConnectionFlags,
  type Connection,
} from '../../connection/connection.ts';
import { CommandError, exitCodes } from '../../exit-codes.ts';
import { getUserId, getAutomationId } from '../../launch/find-by-name.ts';
import { printMessage, notice } from '../../output/notice.ts';
import { printable, printableLine, quoted } from '../../output/printable.ts';
import { printJson } from '../../output/table.ts';
import { chooseProject, getLinkedFolder, addProjectOption } from '../../project/choose-project.ts';
import { pull } from '../../project/pull.ts';
import { writeTypes } from '../../project/types/write-types.ts';
import { folderName, makeEmptyFolder, writeLink } from '../../project/project-folder.ts';
import { addHistoryCommands } from './history.ts';
import { countOf, printPaths, printSkipped, addPushCommand } from './push.ts';
import { addRegisterCommands } from './register.ts';

/** `phalanx project …` */
export function addProjectCommands(program: Command): void {
  const project = program
    .command('project')
    .description('create, edit, share and version projects')
    .addHelpText(
      'after',
      `
A folder belongs to a project by its .phalanx/project.json. "push" saves the folder's changed files on the server, where
they run at once; "commit" makes a version of what is saved. Git works on the same project: "project clone --git" says
how, "git push" makes commits, and what was pushed here and not committed is in no clone.

Example:
  phalanx project create checkout && cd checkout
  phalanx project push && phalanx project commit -m "First version"
  phalanx run --device SIM0001 --follow`,
    );
  addRegisterCommands(project);
  addCloneCommands(project);
  addPullCommand(project);
  addPushCommand(project);
  addHistoryCommands(project);
  addShareCommands(project);
}

/** `project pull` */
function addPullCommand(project: Command): void {
  const command = project
    .command('pull')
    .description('bring what was changed on the server into this folder')
    .option('--force', 'overwrite what was changed here too')
    .option('--json', 'print what was done as JSON')
    .addHelpText(
      'after',
      `
Files that were changed here and not on the server stay as they are. When one was changed on both sides, nothing is
changed here and the command says which (exit code 1).`,
    )
    .action(async (flags: ConnectionFlags & { force?: true; json?: true }) => {
      const connection = await connect(flags);
      const folder = await getLinkedFolder(connection);
      const pulled = await pull(connection.api, folder, flags.force === true);
      if (!flags.json) printSkipped(pulled.skipped);
      if (pulled.conflicts.length > 0 && !flags.force) throw conflict(pulled.conflicts);
      if (flags.json) {
        await writeTypes(folder.root);
        const { written, deleted, kept, skipped } = pulled;
        return printJson({ success: true, pulled: written, deleted, kept, left_out: skipped });
      }
      printPaths('pulled', pulled.written);
      printPaths('deleted', pulled.deleted);
      printPaths('kept', pulled.kept);
      await writeTypes(folder.root);
      if (pulled.written.length + pulled.deleted.length === 0) console.log('Nothing new on the server.');
    });
  addConnectionOptions(command);
}

const conflict = (paths: readonly string[]): CommandError =>
  new CommandError(
    exitCodes.failed,
    `Nothing was pulled: ${countOf(paths.length, 'file')} changed here and on the server (${paths.map(printableLine).join(', ')}). Push with --force to keep yours, or pull with --force to take the server's.`,
  );

interface Flags extends ConnectionFlags {
  project?: string;
  role: MemberRole;
}

/** `project share` and `unshare` */
function addShareCommands(project: Command): void {
  const share = project
    .command('share')
    .description('share a project with a user, or change their role')
    .argument('<user>', 'ID; administrators may give the name')
    .addOption(new Option('--role <role>', 'what they may do').choices(memberRoles).makeOptionMandatory())
    .addHelpText('after', '\nExample: phalanx project share ada --role shared_editor --project checkout')
    .action(async (user: string, flags: Flags) => {
      const connection = await connect(flags);
      const params = await memberOf(connection, user, flags.project);
      const { member } = await connection.api.call(projectRoutes.putMember, {
        params,
        body: { role: flags.role },
      });
      console.log(printable(`${member.name} is ${member.role} now.`));
    });
  const unshare = project
    .command('unshare')
    .description('stop sharing a project with a user')
    .argument('<user>', 'ID; administrators may give the name')
    .action(async (user: string, flags: ConnectionFlags & { project?: string }) => {
      const connection = await connect(flags);
      const params = await memberOf(connection, user, flags.project);
      printMessage(await connection.api.call(projectRoutes.deleteMember, { params }));
    });
  for (const command of [share, unshare]) addConnectionOptions(addProjectOption(command));
}

async function memberOf(
  connection: Awaited<ReturnType<typeof connect>>,
  user: string,
  project: string | undefined,
): Promise<{ id: string; user_id: string }> {
  const id = await chooseProject(connection, project);
  return { id, user_id: await getUserId(connection.api, user) };
}

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
