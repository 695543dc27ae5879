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
    .description('replay the golden screens and runs of a project with its code, without a server or a phone')
    .argument('[folder]', 'by default the project folder that you are in, or this one')
    .option('--filter <text>', 'only screens with this in their path or state')
    .option('--junit <file>', "write a report in JUnit's form")
    .option('--json', 'print what became of each screen as JSON')
    .option('--update', 'expect from now on what the code takes each screen for (not in CI)')
    .addHelpText(
      'after',
      `
A golden screen is a file screens/STATE/NAME.json: a screen of a phone, and what the code has to take it for. "phalanx
records keep" and "phalanx screen --keep" make them. A golden run is a file screens/runs/NAME.json: the screens of a record
in their order; "phalanx records keep --run" makes it. The code runs in the sandbox of a run, on a clock that waits for
nothing.

Exit code 4: a screen is taken for something else, or a run goes otherwise. 1: the code threw, or took too long. 3: it does not compile.

Example: phalanx test --junit report.xml`,
    )
    .action(async (folder: string | undefined, options: TestOptions) => {
      if (options.update && isCi(environment['CI']))
        throw usageError('--update is for people: in CI the files have to be as they are (CI is set).');
      const root = path.resolve(folder ?? (await findLinkedFolder())?.root ?? '.');
      if ((await findKind(root)) !== 'folder')
        throw usageError(`${root} is no folder: name the one with your code.`);
      // The sandbox takes a moment to load, which other commands need not wait for.
      const { runTests } = await import('../../golden/run-tests.ts');
      await runTests(root, options);
    });
}

const isCi = (value: string | undefined): boolean =>
  value !== undefined && !['', '0', 'false'].includes(value);
