import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';

import { usageError } from '../../exit-codes.ts';
import { findLinkedFolder } from '../../project/project-folder.ts';
import { writeTypes } from '../../project/types/write-types.ts';

/** `phalanx types` */
export function addTypesCommand(program: Command): void {
  program
    .command('types')
    .description('write the types of the global "agent" and of your parameters for your editor')
    .argument('[folder]', 'default: the project folder around the current folder, or the current folder')
    .addHelpText(
      'after',
      `
The types go to .phalanx/types, which a push leaves out. A missing tsconfig.json is added. The type of
agent.arguments.automationParameters comes from parameters.schema.json. "project create", "clone" and "pull" also write
the types. Plain "npx tsc" would run an unrelated npm package.

Example: phalanx types && npx --package typescript@7 tsc`,
    )
    .action(async (folder: string | undefined) => {
      const root = folder ?? (await findLinkedFolder())?.root ?? '.';
      const place = path.resolve(root);
      const isFolder = await stat(place).then(
        (found) => found.isDirectory(),
        () => false,
      );
      if (!isFolder) throw usageError(`${place} is not a folder: pass the folder with your code.`);
      const files = await writeTypes(place);
      console.log(`Wrote ${files.length} files below ${place}.`);
    });
}
