import path from 'node:path';
import type { ApiClient } from '@phalanx/client/api-client';
import { readPages } from '@phalanx/client/read-all';

import { type Command, Option } from '@commander-js/extra-typings';
import { memberRoles, projectRoutes, commitRoutes, type ListedCommit } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand } from '../../connection/server-command.ts';
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

/** `phalanx project …` */
export function addProjectCommands(program: PlainCommand): void {
  const project = program
    .command('project')
    .description('create, edit, share and version projects')
    .addHelpText(
      'after',
      `
.phalanx/project.json links a folder to a project. "push" saves the folder's changed files on the server, and the next
run uses them; "commit" creates a version of the saved files. Git works with the same project: "project clone --git"
prints the clone command, and "git push" creates commits. Files that you pushed without a commit are not in any clone.

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
function addPullCommand(project: PlainCommand): void {
  serverCommand(project, 'pull', {
    about: "download the server's changes into this folder",
    build: (command: Command) => command.option('--force', 'overwrite local changes'),
    json: 'print the result as JSON',
    help: `Files that changed only in this folder stay as they are. If a file changed on both sides, the command changes nothing,
lists the conflicts and exits with 1.`,
    async run(connection, { force = false, json }) {
      const folder = await getLinkedFolder(connection);
      const pulled = await pull(connection.api, folder, force);
      if (!json) printSkipped(pulled.skipped);
      if (pulled.conflicts.length > 0 && !force) throw conflict(pulled.conflicts);
      if (json) {
        await writeTypes(folder.root);
        const { written, deleted, kept, skipped } = pulled;
        return printJson({ success: true, pulled: written, deleted, kept, left_out: skipped });
      }
      printPaths('pulled', pulled.written);
      printPaths('deleted', pulled.deleted);
      printPaths('kept', pulled.kept);
      await writeTypes(folder.root);
      if (pulled.written.length + pulled.deleted.length === 0) console.log('Nothing new on the server.');
    },
  });
}

const conflict = (paths: readonly string[]): CommandError =>
  new CommandError(
    exitCodes.failed,
    `Nothing was pulled: ${countOf(paths.length, 'file')} changed here and on the server (${paths.map(printableLine).join(', ')}). Push with --force to keep yours, or pull with --force to take the server's.`,
  );

const userArgument = ['<user>', 'user ID; administrators can also use the name'] as const;

/** `project share` and `unshare` */
function addShareCommands(project: PlainCommand): void {
  serverCommand(project, 'share', {
    about: 'share a project with a user, or change their role',
    json: false,
    build: (command: Command) =>
      addProjectOption(
        command
          .argument(...userArgument)
          .addOption(
            new Option('--role <role>', "the user's role").choices(memberRoles).makeOptionMandatory(),
          ),
      ),
    help: 'Example: phalanx project share ada --role shared_editor --project checkout',
    async run(connection, flags, user) {
      const params = await memberOf(connection, user, flags.project);
      const { member } = await connection.api.call(projectRoutes.putMember, {
        params,
        body: { role: flags.role },
      });
      console.log(printable(`${member.name} now has the role ${member.role}.`));
    },
  });
  serverCommand(project, 'unshare', {
    about: 'stop sharing a project with a user',
    json: false,
    build: (command: Command) => addProjectOption(command.argument(...userArgument)),
    async run(connection, flags, user) {
      const params = await memberOf(connection, user, flags.project);
      printMessage(await connection.api.call(projectRoutes.deleteMember, { params }));
    },
  });
}

async function memberOf(
  connection: Connection,
  user: string,
  project: string | undefined,
): Promise<{ id: string; user_id: string }> {
  const id = await chooseProject(connection, project);
  return { id, user_id: await getUserId(connection.api, user) };
}

/** `project clone` and `link` */
function addCloneCommands(project: PlainCommand): void {
  serverCommand(project, 'clone', {
    about: "download a project's saved files into a new folder",
    json: false,
    build: cloneOptions,
    help: 'Example: phalanx project clone checkout && cd checkout && code .',
    run: cloneProject,
  });
  serverCommand(project, 'link', {
    about: 'link a folder with code, such as a git clone, to a project',
    json: false,
    build: (command: Command) =>
      command.argument('<project>', 'ID or name').argument('[folder]', 'folder to link', '.'),
    async run({ api, serverUrl }, _, text, folder) {
      const params = { id: await getAutomationId(api, text) };
      const { project: found } = await api.call(projectRoutes.get, { params });
      const root = path.resolve(folder);
      await writeLink(root, { id: found.id, server_url: serverUrl });
      await writeTypes(root);
      console.log(
        printable(
          `${root} is linked to "${found.name}". "phalanx project pull" and "phalanx project push" keep them in sync.`,
        ),
      );
    },
  });
}

const cloneOptions = (command: Command) =>
  command
    .argument('<project>', 'ID or name')
    .argument('[folder]', 'new or empty folder; default: named after the project')
    .option('--git', 'print the git command that clones the commits, and download nothing');

async function cloneProject(
  connection: Connection,
  { git }: OptionsOf<typeof cloneOptions>,
  text: string,
  folder: string | undefined,
): Promise<void> {
  const params = { id: await getAutomationId(connection.api, text) };
  const { project } = await connection.api.call(projectRoutes.get, { params });
  const name = folder ?? folderName(project.name, project.id);
  if (git) return printGitCommand(connection, project.clone_path, name);
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
  notice('Git will ask for a password: enter your API token.');
}

/** `project commit`, `log`, `diff` and `revert`, which work on the files saved on the server. */
function addHistoryCommands(project: PlainCommand): void {
  serverCommand(project, 'commit', {
    about: "commit the project's saved files",
    build: (command: Command) =>
      addProjectOption(
        command.requiredOption('-m, --message <message>', 'commit message, 1 to 1000 characters'),
      ),
    async run(connection, { message, project: text, json }) {
      const params = { id: await chooseSavedProject(connection, text) };
      const reply = await connection.api.call(commitRoutes.commit, { params, body: { message } });
      if (json) return printJson(reply);
      console.log(printable(`${reply.commit.hash.slice(0, 8)} ${reply.commit.message}`));
      for (const id of reply.solves ?? []) console.log(`Solves group ${id}.`);
    },
  });
  serverCommand(project, 'log', {
    about: 'list the commits, newest first',
    build: (command: Command) =>
      addProjectOption(command.option('--limit <count>', 'maximum number of commits', parseLimit, 20)),
    async run(connection, { limit, project: text, json }) {
      const id = await chooseProject(connection, text);
      const { commits, next_cursor } = await readCommits(connection.api, id, limit);
      if (json) printJson({ success: true, commits, next_cursor });
      else
        printTable(
          { flexible: 'message', rows: commits.map(row) },
          'No commits yet: "phalanx project commit -m MESSAGE" creates the first one.',
        );
    },
  });
  addDiffCommands(project);
}

const row = ({ hash, created_at: time, author, message }: ListedCommit): Record<string, string> => ({
  commit: hash.slice(0, 8),
  date: new Date(time).toISOString().slice(0, 16).replace('T', ' '),
  author: author.name,
  message: message.split('\n', 1)[0] ?? '',
});

function addDiffCommands(project: PlainCommand): void {
  serverCommand(project, 'diff', {
    about: 'show the uncommitted changes on the server',
    build: (command: Command) => addProjectOption(command),
    async run(connection, flags) {
      const params = { id: await chooseProject(connection, flags.project) };
      const reply = await connection.api.call(commitRoutes.diff, { params });
      if (flags.json) return printJson(reply);
      for (const { path: name, change, diff } of reply.files)
        console.log(printable(diff?.trimEnd() ?? `${change} ${name} (no text to show)`));
      if (reply.truncated) notice('The diff is too long to be shown in full.');
      if (reply.files.length === 0) notice('The server has no uncommitted changes.');
    },
  });
  serverCommand(project, 'revert', {
    about: 'restore the files of a commit, as uncommitted changes',
    build: (command: Command) =>
      addProjectOption(command.argument('<hash>', 'commit hash, or its first digits (at least 4)')),
    async run(connection, flags, text) {
      const id = await chooseProject(connection, flags.project);
      const hash = await getCommitHash(connection.api, id, text);
      const reply = await connection.api.call(commitRoutes.revert, { params: { id }, body: { hash } });
      if (flags.json) return printJson(reply);
      console.log(printable(`Restored the files of ${hash.slice(0, 8)} "${reply.commit.message}".`));
      if (reply.replaced !== null) console.log(`The uncommitted changes were kept as ${reply.replaced}.`);
      notice('To update a local folder, run: phalanx project pull');
    },
  });
}

/** Reads the commits page by page, newest first. */
const listPages = (api: ApiClient, id: string) =>
  readPages((query) => api.call(commitRoutes.list, { params: { id }, query }));

/** Returns at most `limit` commits. `next_cursor` belongs to the last page that was read. */
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

/** Returns the commit whose hash begins with `text`. The server checks a full hash: it knows more than the history. */
async function getCommitHash(api: ApiClient, id: string, text: string): Promise<string> {
  const start = text.toLowerCase();
  if (/^[0-9a-f]{40}$/.test(start)) return start;
  if (!/^[0-9a-f]{4,39}$/.test(start))
    throw usageError(`"${text}" is not a commit hash: pass at least 4 hexadecimal digits.`);
  const found: string[] = [];
  for await (const { commits } of listPages(api, id))
    found.push(...commits.map(({ hash }) => hash).filter((hash) => hash.startsWith(start)));
  const [only] = found;
  if (only === undefined)
    throw usageError(`No commit begins with ${text}: "phalanx project log" lists the commits.`);
  if (found.length === 1) return only;
  throw usageError(`Several commits begin with ${text}: ${found.join(', ')}.`);
}
