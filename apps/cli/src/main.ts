import { createRequire } from 'node:module';
import { Command, Help } from 'commander';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { addCommands } from './commands/commands.ts';
import { exitCodes, exitCodesHelp } from './exit-codes.ts';
import { reportError } from './output/report-error.ts';
import { reexec } from './start/reexec.ts';

const Manifest = Compile(Type.Object({ version: Type.String() }));

/** That of the whole release, in the repository and installed. */
const version: string = Manifest.Parse(createRequire(import.meta.url)('../../../package.json')).version;

/**
 * Exit code after the reader of the output has gone, as in `phalanx runs | head`: the one that a shell reports
 * for SIGPIPE.
 */
const brokenPipe = 141;

/** Whether results and errors are printed as JSON. */
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
  await reexec(words);
  // Loading all commands takes longer than the answer.
  if (words[0] !== '--version') await addCommands(program, words);
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

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(brokenPipe);
  throw error;
});
try {
  await main();
  // A slow reader gets all of the output before the process ends.
  await new Promise((resolve) => process.stdout.write('', resolve));
  process.exit(exitCodes.ok);
} catch (error) {
  process.exit(reportError(error, wantsJson));
}
