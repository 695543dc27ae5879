import type { Command } from 'commander';

import { addAuditCommand } from './audit.ts';
import { addCompletionCommand } from './completion.ts';
import { addInputCommand, addLeaseCommand } from './control.ts';
import { addDevicesCommand } from './devices.ts';
import { addExecCommand } from './exec.ts';
import { addGroupCommands } from './groups.ts';
import { addJobCommands } from './jobs.ts';
import { addLoginCommands } from './login.ts';
import { addLogsCommand } from './logs.ts';
import { addPoolCommands } from './pools.ts';
import { addTraceCommand } from './trace.ts';
import { addProjectCommands } from './project/project.ts';
import { addInitCommand } from './project/register.ts';
import { addRecordCommands } from './records/records.ts';
import { addRunCommand } from './run.ts';
import { addRunsCommand } from './runs/list.ts';
import { addScheduleCommands } from './schedules.ts';
import { addScreenCommand } from './screen.ts';
import { addStopCommand } from './stop.ts';
import { addTestCommand } from './test.ts';
import { addTokenCommands } from './tokens.ts';
import { addTypesCommand } from './types.ts';
import { addSecretCommands } from './secrets.ts';
import { addHostsCommand } from './share-phones.ts';
import { addUsageCommand } from './usage.ts';
import { addUserCommands } from './users.ts';

/** The commands that call a server, wherever it is. */
export function addCallerCommands(program: Command): void {
  addDevicesCommand(program);
  addScreenCommand(program);
  addInputCommand(program);
  addLeaseCommand(program);
  addHostsCommand(program);
  addPoolCommands(program);
  addInitCommand(program);
  addProjectCommands(program);
  addSecretCommands(program);
  addTypesCommand(program);
  addTestCommand(program);
  addRunCommand(program);
  addExecCommand(program);
  addJobCommands(program);
  addScheduleCommands(program);
  addRunsCommand(program);
  addLogsCommand(program);
  addTraceCommand(program);
  addStopCommand(program);
  addRecordCommands(program);
  addGroupCommands(program);
  addLoginCommands(program);
  addTokenCommands(program);
  addUserCommands(program);
  addAuditCommand(program);
  addUsageCommand(program);
  addCompletionCommand(program);
}
