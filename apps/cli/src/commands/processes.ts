import type { Command } from 'commander';

import { addBackupCommand } from './service/backup/backup.ts';
import { addCheckCommand } from './service/backup/check.ts';
import { addMigrateCommand } from './service/migrate.ts';
import { addRestoreCommand } from './service/backup/restore.ts';
import { addDemoCommand } from './service/demo.ts';
import { addHostCommand } from './service/host.ts';
import { addPhoneCommand } from './phones/phone.ts';
import { addServerCommand } from './service/server.ts';
import { addSimulateCommand } from './service/simulate.ts';
import { addStartCommand } from './service/start.ts';

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
