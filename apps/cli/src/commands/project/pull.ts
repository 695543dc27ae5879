import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { CommandError, exitCodes } from '../../exit-codes.ts';
import { printableLine } from '../../output/printable.ts';
import { printJson } from '../../output/table.ts';
import { getLinkedFolder } from '../../project/choose-project.ts';
import { pull } from '../../project/pull.ts';
import { writeTypes } from '../../types/write-types.ts';
import { countOf, printPaths, printSkipped } from './print-skipped.ts';

/** `project pull` */
export function addPullCommand(project: Command): void {
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
