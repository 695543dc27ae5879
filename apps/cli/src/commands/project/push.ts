import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { confirm } from '../../connection/confirm.ts';
import { CommandError, exitCodes } from '../../exit-codes.ts';
import { notice } from '../../output/notice.ts';
import { printableLine } from '../../output/printable.ts';
import { getLinkedFolder } from '../../project/choose-project.ts';
import { planPush, sendPlan, type PushPlan } from '../../project/push.ts';
import { countOf, printPaths, printSkipped } from './print-skipped.ts';

interface Flags extends ConnectionFlags {
  delete?: true;
  force?: true;
}

/** `project push` */
export function addPushCommand(project: Command): void {
  const command = project
    .command('push')
    .description("save this folder's changed files on the server")
    .option('--delete', 'delete on the server what was deleted here, without asking')
    .option('--force', 'overwrite what was changed on the server too')
    .addHelpText(
      'after',
      `
What .gitignore names is left out, with .git, node_modules, .phalanx, symbolic links, and .js files beside their .ts.
All is saved or nothing: a project that would not compile is not, and its errors are shown (exit code 3). When a file
that would be sent was changed on the server since the last pull, nothing is sent (exit code 1).`,
    )
    .action(async (flags: Flags) => {
      const connection = await connect(flags);
      const folder = await getLinkedFolder(connection);
      const plan = await planPush(connection.api, folder, flags.force === true);
      requireSendable(plan);
      const mayDelete = plan.gone.length > 0 && (flags.delete === true || (await confirm(question(plan))));
      const deleted = mayDelete ? plan.gone : [];
      if (!mayDelete) for (const path of plan.gone) notice(stillThere(path));
      for (const line of await sendPlan(connection.api, folder, plan, deleted)) notice(printableLine(line));
      printPaths('pushed', [...plan.changed.keys()]);
      printPaths('deleted', deleted);
      if (plan.changed.size + deleted.length === 0) console.log('Nothing to push.');
    });
  addConnectionOptions(command);
}

const question = ({ gone }: PushPlan): string =>
  `Delete ${countOf(gone.length, 'file')} on the server too: ${gone.map(printableLine).join(', ')}?`;

const stillThere = (path: string): string =>
  `Still on the server: ${printableLine(path)} (deleted here; --delete deletes it there)`;

/** Tells what is left out; throws when the rest may not be sent either. */
function requireSendable({ failed, conflicts, others }: PushPlan): void {
  printSkipped(others.map((path) => ({ path, reason: 'neither a file nor a folder' })));
  for (const { path, reason } of failed) notice(`Not saved: ${printableLine(path)}\n  ${reason}`);
  for (const path of conflicts) notice(`Changed on the server: ${printableLine(path)}`);
  if (failed.length > 0)
    throw new CommandError(
      exitCodes.refused,
      `Nothing was pushed: ${countOf(failed.length, 'file')} cannot be sent. Correct or ignore them, and push again.`,
    );
  if (conflicts.length > 0)
    throw new CommandError(
      exitCodes.failed,
      `Nothing was pushed: ${countOf(conflicts.length, 'file')} changed on the server since your last pull. Pull first, or push with --force.`,
    );
}
