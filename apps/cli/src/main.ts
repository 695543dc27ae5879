import { SettingError } from '@phalanx/settings';
import { Command, CommanderError } from 'commander';

import { ApiRefusal } from './api-client.ts';
import { addCallerCommands } from './commands/callers.ts';
import { CommandError, exitCodes, exitCodesHelp } from './exit-codes.ts';
import { printable } from './output/printable.ts';
import { ServerUnreachable } from './server-unreachable.ts';
import { version } from './version.ts';

/** Whoever read the output has gone, as in `phalanx runs | head`: what a shell says of SIGPIPE. */
const brokenPipe = 141;

async function main(): Promise<void> {
  const program = new Command('phalanx')
    .description('Runs TypeScript automations on a fleet of Android phones.')
    .version(version, '--version', 'print the version')
    .addHelpText('after', exitCodesHelp)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(`${text.trim().replaceAll('\n', ' ')} (see --help)\n`),
    });
  program.commandsGroup('Commands that call a server:');
  addCallerCommands(program);
  // Server and host take a second to load, which the other commands need not wait for.
  if (!program.commands.some((command) => command.name() === process.argv[2])) {
    const { addProcessCommands } = await import('./commands/processes.ts');
    program.commandsGroup('Commands that run the service:');
    addProcessCommands(program);
  }
  await program.parseAsync();
}

/** Tells people what went wrong, and gives the exit code. */
function report(error: unknown): number {
  // Commander has printed it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof ApiRefusal) return reportRefusal(error);
  const known = error instanceof Error ? knownExitCode(error) : undefined;
  console.error(known !== undefined && error instanceof Error ? printable(error.message) : error);
  return known ?? exitCodes.failed;
}

function reportRefusal({ message, status, errors }: ApiRefusal): number {
  for (const line of errors) console.error(printable(line));
  if (errors.length === 0) console.error(printable(message));
  if (status !== 401) return exitCodes.refused;
  console.error(
    'Log in again with "phalanx login", or give a valid token with --token-file or PHALANX_TOKEN.',
  );
  return exitCodes.usage;
}

/** Faults of settings and of the surroundings are for the operator: one line, no stack. */
function knownExitCode(error: Error): number | undefined {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof ServerUnreachable || error instanceof SettingError) return exitCodes.usage;
  return undefined;
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(brokenPipe);
  throw error;
});
try {
  await main();
  process.exit(exitCodes.ok);
} catch (error) {
  process.exit(report(error));
}
