import { commitRoutes, type ListedCommit } from '@phalanx/protocol';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { notice } from '../../output/notice.ts';
import { printable } from '../../output/printable.ts';
import { printJson, printTable } from '../../output/table.ts';
import { chooseProject, chooseSavedProject, addProjectOption } from '../../project/choose-project.ts';
import { parseLimit } from '../../option-values.ts';
import type { ApiClient } from '../../api-client.ts';
import { usageError } from '../../exit-codes.ts';

interface Flags extends ConnectionFlags {
  project?: string;
  json?: true;
}

/** `project commit`, `log`, `diff` and `revert`: of what is saved on the server */
export function addHistoryCommands(project: Command): void {
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

async function commitSaved(flags: Flags & { message: string }): Promise<void> {
  const connection = await connect(flags);
  const params = { id: await chooseSavedProject(connection, flags.project) };
  const reply = await connection.api.call(commitRoutes.commit, { params, body: { message: flags.message } });
  if (flags.json) {
    printJson(reply);
    return;
  }
  console.log(printable(`${reply.commit.hash.slice(0, 10)} ${reply.commit.message}`));
  for (const id of reply.solves ?? []) console.log(`Solves group ${id}.`);
}

async function listLog(flags: Flags & { limit: number }): Promise<void> {
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
  commit: hash.slice(0, 10),
  date: new Date(time).toISOString().slice(0, 16).replace('T', ' '),
  author: author.name,
  message: message.split('\n', 1)[0] ?? '',
});

async function showDiff(flags: Flags): Promise<void> {
  const connection = await connect(flags);
  const params = { id: await chooseProject(connection, flags.project) };
  const reply = await connection.api.call(commitRoutes.diff, { params });
  if (flags.json) return printJson(reply);
  for (const { path, change, diff } of reply.files)
    console.log(printable(diff?.trimEnd() ?? `${change} ${path} (no text to show)`));
  if (reply.truncated) notice('The diff is too long: not all of it is shown.');
  if (reply.files.length === 0) notice('Everything that is saved on the server is committed.');
}

async function revertTo(text: string, flags: Flags): Promise<void> {
  const connection = await connect(flags);
  const id = await chooseProject(connection, flags.project);
  const hash = await getCommitHash(connection.api, id, text);
  const reply = await connection.api.call(commitRoutes.revert, { params: { id }, body: { hash } });
  if (flags.json) return printJson(reply);
  console.log(printable(`The saved files are those of ${hash.slice(0, 10)} "${reply.commit.message}".`));
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
