import type { Command } from 'commander';

import { addCommands } from './commands/commands.ts';
import { createProgram } from './create-program.ts';
import { exitCodes } from './exit-codes.ts';
import { reportError } from './output/report-error.ts';
import { reexec } from './start/reexec.ts';

/**
 * Exit code after the reader of the output has gone, as in `phalanx runs | head`: the one that a shell reports
 * for SIGPIPE.
 */
const brokenPipe = 141;

/** Whether results and errors are printed as JSON. */
const wantsJson = process.argv.includes('--json');

async function main(): Promise<void> {
  const program = createProgram()
    .exitOverride()
    .configureOutput({
      outputError(text, write) {
        if (!wantsJson) write(`${text.trim().replaceAll('\n', ' ')} (see --help)\n`);
      },
    });
  const words = process.argv.slice(2);
  await reexec(words);
  // Skipped for --version, because loading all commands takes longer than the answer.
  if (words[0] !== '--version') await addCommands(program, words);
  if (words.includes('--help') || words.includes('-h')) requireKnown(program, words);
  await program.parseAsync();
}

/** Refuses unknown subcommands before `--help`, where Commander would accept any word after a group. */
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
  // Waits until a slow reader has all of the output before the process ends.
  await new Promise((resolve) => process.stdout.write('', resolve));
  process.exit(exitCodes.ok);
} catch (error) {
  process.exit(reportError(error, wantsJson));
}
