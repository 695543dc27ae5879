import type { Command } from 'commander';

import { addBackupCommand } from './backup/backup.ts';
import { addCheckCommand } from './backup/check.ts';
import { addMigrateCommand } from './migrate.ts';
import { addRestoreCommand } from './backup/restore.ts';
import { addDemoCommand } from './demo.ts';
import { addHostCommand } from './host.ts';
import { addPhoneCommand } from './phone.ts';
import { addServerCommand } from './server.ts';
import { addSimulateCommand } from './simulate.ts';
import { addStartCommand } from './start.ts';

/** The commands that bring the server and the host along. */
export function addProcessCommands(program: Command): void {
  addStartCommand(program);
  addDemoCommand(program);
  addServerCommand(program);
  addHostCommand(program);
  addSimulateCommand(program);
  addPhoneCommand(program);
  addBackupCommand(program);
  addRestoreCommand(program);
  addCheckCommand(program);
  addMigrateCommand(program);
}
