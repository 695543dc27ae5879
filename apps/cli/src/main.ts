import { Command, Help } from 'commander';

import { exitCodes, exitCodesHelp } from './exit-codes.ts';
import { reportError } from './output/report-error.ts';
import { services, startAnew } from './start/start-anew.ts';
import { version } from './version.ts';

/** Whoever read the output has gone, as in `phalanx runs | head`: what a shell says of SIGPIPE. */
const brokenPipe = 141;

/** Also what goes wrong is JSON then. */
const wantsJson = process.argv.includes('--json');

async function main(): Promise<void> {
  const program = new Command('phalanx')
    .description('Runs TypeScript automations on a fleet of Android phones.')
    .version(version, '--version', 'print the version')
    .addHelpText('after', exitCodesHelp)
    .exitOverride()
    .configureOutput({
      outputError(text, write) {
        if (!wantsJson) write(`${text.trim().replaceAll('\n', ' ')} (see --help)\n`);
      },
    })
    // Options belong to the command before them, so a group and its parts may have the same ones.
    .enablePositionalOptions()
    .configureHelp({
      optionDescription: (option) => new Help().optionDescription(option).replace(' (default: [])', ''),
    });
  const words = process.argv.slice(2);
  await startAnew(words);
  if (!services.includes(words[0] ?? '')) {
    const { addCallerCommands } = await import('./commands/callers.ts');
    program.commandsGroup('Commands that call a server:');
    addCallerCommands(program);
  }
  // Server and host take a second to load, which the other commands need not wait for.
  if (!program.commands.some((command) => command.name() === commandName(words))) {
    const { addProcessCommands } = await import('./commands/processes.ts');
    program.commandsGroup('Commands that run the service:');
    addProcessCommands(program);
  }
  if (words.includes('--help') || words.includes('-h')) requireKnown(program, words);
  await program.parseAsync();
}

/** Before `--help`, Commander would take any word after a group for one of its commands. */
function requireKnown(command: Command, [word, ...rest]: readonly string[]): void {
  if (word === undefined || word.startsWith('-') || word === 'help' || command.commands.length === 0) return;
  const found = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
  if (found !== undefined) requireKnown(found, rest);
  else if (command.registeredArguments.length === 0) command.error(`error: unknown command '${word}'`);
}

/** Of a command line, or of one that is to be completed. */
const commandName = (words: readonly string[]): string | undefined =>
  words[0] === 'completion' && words[1] === 'words' ? words[3] : words[0];

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(brokenPipe);
  throw error;
});
try {
  await main();
  // Who reads slowly gets the rest too.
  await new Promise((resolve) => process.stdout.write('', resolve));
  process.exit(exitCodes.ok);
} catch (error) {
  process.exit(reportError(error, wantsJson));
}
