import { spawn } from 'node:child_process';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../../connection/connection.ts';
import { CommandError, exitCodes } from '../../../exit-codes.ts';
import { notice } from '../../../output/notice.ts';
import { getRecord } from './read-records.ts';

/** Without a desktop there is nothing to open it with; the address is printed all the same. */
function openInBrowser(url: string): void {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => notice(`${program} is not here: open the address yourself.`));
  child.unref();
}

/** `phalanx records open` */
export function addOpenCommand(records: Command): void {
  const command = records
    .command('open')
    .description('open the last picture of a record in the browser, and print its address')
    .argument('<record>', 'its ID, or how that begins')
    .action(async (id: string, flags: ConnectionFlags) => {
      const { api } = await connect(flags);
      const { screens } = await getRecord(api, id);
      const url = screens.findLast(({ screenshot }) => screenshot.screenshotUrl !== null)?.screenshot
        .screenshotUrl;
      if (url === undefined || url === null) {
        throw new CommandError(
          exitCodes.refused,
          'The record has no picture: "phalanx records show" has its trees.',
        );
      }
      console.log(url);
      openInBrowser(url);
    });
  addConnectionOptions(command);
}
