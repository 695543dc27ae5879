import { Command } from 'commander';

import { addDemoCommand } from './commands/demo.ts';
import { addHostCommand } from './commands/host.ts';
import { addServerCommand } from './commands/server.ts';
import { addSimulateCommand } from './commands/simulate.ts';
import { addStartCommand } from './commands/start.ts';

const neededNode = 24;

/** Faults of settings and of the surroundings are for the operator: one line, no stack. */
function isForPeople(error: unknown): error is Error {
  return error instanceof Error && ['StartError', 'SettingError'].includes(error.name);
}

async function main(): Promise<void> {
  const program = new Command('phalanx').description(
    'Runs TypeScript automations on a fleet of Android phones.',
  );
  addStartCommand(program);
  addDemoCommand(program);
  addServerCommand(program);
  addHostCommand(program);
  addSimulateCommand(program);
  await program.parseAsync();
}

if (Number.parseInt(process.versions.node, 10) < neededNode) {
  console.error(
    `Phalanx needs Node ${neededNode}; this is ${process.versions.node}. Start it with: npm run phalanx`,
  );
  process.exit(1);
}
try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(isForPeople(error) ? error.message : error);
  process.exit(1);
}
