import path from 'node:path';

import {
  type MemberRole,
  memberRoles,
  projectRoutes,
  commitRoutes,
  type ListedCommit,
} from '@phalanx/protocol';
import { type Command, Option } from 'commander';

import {
  addConnectionOptions,
  connect,
  type ConnectionFlags,
  type Connection,
} from '../../connection/connection.ts';
import { CommandError, exitCodes, usageError } from '../../exit-codes.ts';
import { getUserId, getAutomationId } from '../../launch/find-by-name.ts';
import { printMessage, notice, printable, printableLine, quoted } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';
import {
  chooseProject,
  getLinkedFolder,
  addProjectOption,
  folderName,
  makeEmptyFolder,
  writeLink,
  chooseSavedProject,
} from '../../project/project-folder.ts';
import { pull } from '../../project/pull.ts';
import { writeTypes } from '../../project/types/write-types.ts';
import { countOf, printPaths, printSkipped, addPushCommand } from './push.ts';
import { addRegisterCommands } from './register.ts';
import { parseLimit } from '../../option-values.ts';
import type { ApiClient } from '../../api-client.ts';

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

interface HistoryFlags extends ConnectionFlags {
  project?: string;
  json?: true;
}

/** `project commit`, `log`, `diff` and `revert`: of what is saved on the server */
function addHistoryCommands(project: Command): void {
  const commit = project
    .command('commit')
    .description('commit what is saved on the server')
    .requiredOption('-m, --message <message>', '1 to 1000 characters')
    .option('--json', "print the API's reply")
    .action(commitSaved);
  const log = project
    .command('log')
    .description('list the commits, newest first')
    .option('--limit <count>', 'at most so many', parseLimit, 20)
    .option('--json', "print the API's reply")
    .action(listLog);
  const diff = project
    .command('diff')
    .description('show what is saved on the server and not committed')
    .option('--json', "print the API's reply")
    .action(showDiff);
  const revert = project
    .command('revert')
    .description('put the saved files back to those of a commit, as uncommitted changes')
    .argument('<hash>', 'of "phalanx project log"; its first digits do')
    .option('--json', "print the API's reply")
    .action(revertTo);
  for (const command of [commit, log, diff, revert]) addConnectionOptions(addProjectOption(command));
}

async function commitSaved(flags: HistoryFlags & { message: string }): Promise<void> {
  const connection = await connect(flags);
  const params = { id: await chooseSavedProject(connection, flags.project) };
  const reply = await connection.api.call(commitRoutes.commit, { params, body: { message: flags.message } });
  if (flags.json) {
    printJson(reply);
    return;
  }
  console.log(printable(`${reply.commit.hash.slice(0, 8)} ${reply.commit.message}`));
  for (const id of reply.solves ?? []) console.log(`Solves group ${id}.`);
}

async function listLog(flags: HistoryFlags & { limit: number }): Promise<void> {
  const connection = await connect(flags);
  const id = await chooseProject(connection, flags.project);
  const { commits, next_cursor } = await readCommits(connection.api, id, flags.limit);
  if (flags.json) printJson({ success: true, commits, next_cursor });
  else
    printTable(
      { flexible: 'message', rows: commits.map(row) },
      'No commits yet: "phalanx project commit -m MESSAGE" makes the first.',
    );
}

const row = ({ hash, created_at: time, author, message }: ListedCommit): Record<string, string> => ({
  commit: hash.slice(0, 8),
  date: new Date(time).toISOString().slice(0, 16).replace('T', ' '),
  author: author.name,
  message: message.split('\n', 1)[0] ?? '',
});

async function showDiff(flags: HistoryFlags): Promise<void> {
  const connection = await connect(flags);
  const params = { id: await chooseProject(connection, flags.project) };
  const reply = await connection.api.call(commitRoutes.diff, { params });
  if (flags.json) return printJson(reply);
  for (const { path: name, change, diff } of reply.files)
    console.log(printable(diff?.trimEnd() ?? `${change} ${name} (no text to show)`));
  if (reply.truncated) notice('The diff is too long: not all of it is shown.');
  if (reply.files.length === 0) notice('Everything that is saved on the server is committed.');
}

async function revertTo(text: string, flags: HistoryFlags): Promise<void> {
  const connection = await connect(flags);
  const id = await chooseProject(connection, flags.project);
  const hash = await getCommitHash(connection.api, id, text);
  const reply = await connection.api.call(commitRoutes.revert, { params: { id }, body: { hash } });
  if (flags.json) return printJson(reply);
  console.log(printable(`The saved files are those of ${hash.slice(0, 8)} "${reply.commit.message}".`));
  if (reply.replaced !== null) console.log(`What was not committed is kept as ${reply.replaced}.`);
  notice('A folder here gets them with: phalanx project pull');
}

/** Newest first, page by page, with the cursor to what comes after the page. */
async function* listPages(
  api: ApiClient,
  id: string,
): AsyncGenerator<{ commits: ListedCommit[]; next_cursor: string | null }> {
  for (let cursor: string | undefined; ;) {
    const query = cursor === undefined ? {} : { cursor };
    const page = await api.call(commitRoutes.list, { params: { id }, query });
    yield page;
    if (page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
}

/** At most `limit`; the cursor is that of the last whole page. */
async function readCommits(
  api: ApiClient,
  id: string,
  limit: number,
): Promise<{ commits: ListedCommit[]; next_cursor: string | null }> {
  const commits: ListedCommit[] = [];
  for await (const page of listPages(api, id)) {
    commits.push(...page.commits);
    if (commits.length >= limit) return { commits: commits.slice(0, limit), next_cursor: page.next_cursor };
  }
  return { commits, next_cursor: null };
}

/** The one commit whose hash begins with `text`. A whole hash is left to the server: it knows more than the history. */
async function getCommitHash(api: ApiClient, id: string, text: string): Promise<string> {
  const start = text.toLowerCase();
  if (/^[0-9a-f]{40}$/.test(start)) return start;
  if (!/^[0-9a-f]{4,39}$/.test(start))
    throw usageError(`"${text}" is no commit hash: give at least 4 of its digits.`);
  const found: string[] = [];
  for await (const { commits } of listPages(api, id))
    found.push(...commits.map(({ hash }) => hash).filter((hash) => hash.startsWith(start)));
  const [only] = found;
  if (only === undefined)
    throw usageError(`No commit begins with ${text}: "phalanx project log" lists them.`);
  if (found.length === 1) return only;
  throw usageError(`Several commits begin with ${text}: ${found.join(', ')}.`);
}
