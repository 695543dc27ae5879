import type { Command } from 'commander';

import { addKeepCommand } from './keep.ts';
import { addListCommand } from './list.ts';
import { addMarkCommands } from './mark.ts';
import { addOpenCommand } from './open.ts';
import { addShowCommand } from './show.ts';

/** `phalanx records list|show|open|keep|solve|skip|save|unsave` */
export function addRecordCommands(program: Command): void {
  const records = program
    .command('records')
    .description('review out-of-steps records: the screens that automations did not know')
    .addHelpText(
      'after',
      `
Examples:
  phalanx records list --status pending
  phalanx records show 01a1fc26 --screens 3
  phalanx records keep 01a1fc26 --state Checkout
  phalanx records solve 01a1fc26`,
    );
  addListCommand(records);
  addShowCommand(records);
  addOpenCommand(records);
  addKeepCommand(records);
  addMarkCommands(records);
}
