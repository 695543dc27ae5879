import path from 'node:path';
import type { Command } from 'commander';

import { environment } from '../../config.ts';
import { usageError } from '../../exit-codes.ts';
import type { TestOptions } from '../../golden/run-tests.ts';
import { findLinkedFolder } from '../../project/project-folder.ts';
import { findKind } from '../../project/local-files.ts';

/** `phalanx test` */
export function addTestCommand(program: Command): void {
  program
    .command('test')
    .description("replay a project's golden screens and runs with its code, without a server or a phone")
    .argument('[folder]', 'default: the project folder around the current folder, or the current folder')
    .option('--filter <text>', 'only screens whose path or state contains this text')
    .option('--junit <file>', 'write a JUnit report')
    .option('--json', 'print the result of each screen as JSON')
    .option('--update', 'set the expected state of each screen to what the code recognises (not in CI)')
    .addHelpText(
      'after',
      `
A golden screen is a file screens/STATE/NAME.json: a screen of a phone, and the state that the code must recognise.
"phalanx records keep" and "phalanx screen --keep" create it. A golden run is a file screens/runs/NAME.json: the screens
of a record in order. "phalanx records keep --run" creates it. The code runs in the same sandbox as a run, with a
simulated clock, so waits take no time.

Exit code 4: the code takes a screen for another state, or a run goes differently. Exit code 1: the code threw an error
or took too long. Exit code 3: the code does not compile.

Example: phalanx test --junit report.xml`,
    )
    .action(async (folder: string | undefined, options: TestOptions) => {
      if (options.update && isCi(environment['CI']))
        throw usageError(
          '--update is not available in CI (CI is set): run it locally, and commit the files.',
        );
      const root = path.resolve(folder ?? (await findLinkedFolder())?.root ?? '.');
      if ((await findKind(root)) !== 'folder')
        throw usageError(`${root} is not a folder: pass the folder with your code.`);
      // Loaded here, because the sandbox takes a moment to load and other commands do not need it.
      const { runTests } = await import('../../golden/run-tests.ts');
      await runTests(root, options);
    });
}

const isCi = (value: string | undefined): boolean =>
  value !== undefined && !['', '0', 'false'].includes(value);
