import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { confirm } from '../../connection/confirm.ts';
import { CommandError, exitCodes } from '../../exit-codes.ts';
import { notice } from '../../output/notice.ts';
import { printableLine } from '../../output/printable.ts';
import { getLinkedFolder } from '../../project/choose-project.ts';
import { push, type Pushed } from '../../project/push.ts';
import { countOf, printPaths } from './print-skipped.ts';

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
A file that does not compile is not saved, and its errors are shown; the others are (exit code 3). A file that was
changed on the server since the last pull is not overwritten (exit code 1).`,
    )
    .action(async (flags: Flags) => {
      const connection = await connect(flags);
      const folder = await getLinkedFolder(connection);
      const mayDelete = async (paths: readonly string[]): Promise<boolean> =>
        flags.delete === true || confirm(deleteQuestion(paths));
      report(await push(connection.api, folder, { force: flags.force === true, mayDelete }));
    });
  addConnectionOptions(command);
}

const deleteQuestion = (paths: readonly string[]): string =>
  `Delete ${countOf(paths.length, 'file')} on the server too: ${paths.map(printableLine).join(', ')}?`;

function report({ written, deleted, notDeleted, conflicts, failed, others }: Pushed): void {
  printPaths('pushed', written);
  printPaths('deleted', deleted);
  for (const path of others) notice(`Left out: ${printableLine(path)} (neither a file nor a folder)`);
  for (const path of notDeleted)
    notice(`Still on the server: ${printableLine(path)} (deleted here; --delete deletes it there)`);
  for (const path of conflicts) notice(`Changed on the server: ${printableLine(path)}`);
  for (const [path, reasons] of failed) {
    notice(`Not saved: ${printableLine(path)}`);
    for (const reason of reasons) notice(`  ${reason}`);
  }
  if (failed.size > 0)
    throw new CommandError(
      exitCodes.refused,
      `${countOf(failed.size, 'file')} could not be saved: correct and push again.`,
    );
  if (conflicts.length > 0)
    throw new CommandError(
      exitCodes.failed,
      `${countOf(conflicts.length, 'file')} changed on the server since your last pull: pull first, or push with --force.`,
    );
  if (written.length + deleted.length === 0) console.log('Nothing to push.');
}
