import type { Command } from '@commander-js/extra-typings';
import { ServiceError } from '@phalanx/client/service-errors';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { serverCommand } from '../../connection/server-command.ts';
import { confirm, notice, printableLine } from '../../output/terminal.ts';
import { CommandError, exitCodes } from '../../exit-codes.ts';
import { printJson } from '../../output/table.ts';
import { getLinkedFolder } from '../../project/project-folder.ts';
import { planPush, sendPlan, type PushPlan } from '../../project/push.ts';

interface PushFlags {
  delete?: true;
  force?: true;
  json?: true;
}

/** `project push` */
export function addPushCommand(project: PlainCommand): void {
  serverCommand(project, 'push', {
    about: "save this folder's changed files on the server",
    build: (command: Command) =>
      command
        .option('--delete', 'delete the files on the server that were deleted here, without asking')
        .option('--force', "overwrite the server's changes"),
    json: 'print the result as JSON, and ask nothing',
    help: `A push leaves out .git, node_modules, .phalanx, symbolic links, .js files beside their .ts, and what .gitignore names.
It saves all changed files or none. If the project does not compile, the command prints the errors and exits with 3. If
the server has a newer version of a changed file than your last pull, the command exits with 1.`,
    run: pushFolder,
  });
}

/** Saves the folder on the server, and prints the result. */
export async function pushFolder(connection: Connection, flags: PushFlags): Promise<void> {
  const folder = await getLinkedFolder(connection);
  const plan = await planPush(connection.api, folder, flags.force === true);
  requireSendable(plan, flags.json === true);
  const deleted = (await mayDelete(plan, flags)) ? plan.gone : [];
  const kept = plan.gone.filter((path) => !deleted.includes(path));
  if (!flags.json) for (const path of kept) notice(stillThere(path));
  const sent = sendPlan(connection.api, folder, plan, deleted);
  const warnings = await (flags.json ? sent : sent.catch(explain));
  print(flags, { plan, kept, deleted, warnings });
}

const question = ({ gone }: PushPlan): string =>
  `Delete ${countOf(gone.length, 'file')} on the server too: ${gone.map(printableLine).join(', ')}?`;

const stillThere = (path: string): string =>
  `Still on the server: ${printableLine(path)} (deleted here; --delete deletes it there)`;

/** Prints why nothing was pushed, before the compiler errors. Rethrows the error. */
function explain(error: unknown): never {
  if (error instanceof ServiceError && error.errors.length > 0)
    notice('Nothing was pushed: the project would not compile.');
  throw error;
}

async function mayDelete(plan: PushPlan, flags: PushFlags): Promise<boolean> {
  if (plan.gone.length === 0 || flags.delete === true) return true;
  return flags.json !== true && confirm(question(plan));
}

interface Done {
  plan: PushPlan;
  kept: readonly string[];
  deleted: readonly string[];
  warnings: readonly string[];
}

function print({ json }: PushFlags, { plan: { changed, others }, kept, deleted, warnings }: Done): void {
  const pushed = [...changed.keys()];
  if (json)
    return printJson({ success: true, pushed, deleted, still_there: kept, left_out: others, warnings });
  for (const line of warnings) notice(printableLine(line));
  printPaths('pushed', pushed);
  printPaths('deleted', deleted);
  if (pushed.length + deleted.length === 0) console.log('Nothing to push.');
}

/** Prints the entries that a push leaves out. Throws if a file cannot be sent or has a conflict. */
function requireSendable({ failed, conflicts, others }: PushPlan, isQuiet: boolean): void {
  const tell = isQuiet ? () => undefined : notice;
  if (!isQuiet) printSkipped(others.map((path) => ({ path, reason: 'neither a file nor a folder' })));
  for (const { path, reason } of failed) tell(`Not saved: ${printableLine(path)}\n  ${reason}`);
  for (const path of conflicts) tell(`Changed on the server: ${printableLine(path)}`);
  const named = (paths: readonly string[]): string =>
    isQuiet ? ` (${paths.map(printableLine).join(', ')})` : '';
  if (failed.length > 0)
    throw new CommandError(
      exitCodes.refused,
      `Nothing was pushed: ${countOf(failed.length, 'file')}${named(failed.map(({ path }) => path))} cannot be sent. Correct them or add them to .gitignore, and push again.`,
    );
  if (conflicts.length > 0)
    throw new CommandError(
      exitCodes.failed,
      `Nothing was pushed: ${countOf(conflicts.length, 'file')}${named(conflicts)} changed on the server since your last pull. Pull first, or push with --force.`,
    );
}

export function printSkipped(skipped: readonly { path: string; reason: string }[]): void {
  for (const { path, reason } of skipped) notice(`Left out: ${printableLine(path)} (${reason})`);
}

/** Prints `word` and a path on each line. */
export function printPaths(word: string, paths: readonly string[]): void {
  for (const path of paths) console.log(`${word.padEnd(8)}  ${printableLine(path)}`);
}

export const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
